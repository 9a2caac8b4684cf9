/** Starts the servers of a set of rows and one host process that calls them all, and gathers what each side saw. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../support/cli.ts';
import type { ClientName } from './clients.ts';
import { MARK_NAME } from './mark.ts';
import { createRowServer, type HostSign, type RowServer } from './row-server.ts';
import type { Row } from './rows.ts';

const HOST = fileURLToPath(new URL('host.cjs', import.meta.url));
/** How long a caller waits for a stream that has ended: more than the second below which it is not reported. */
const WAIT_MS = 1200;
/** Timeouts that the clients are told; each row has its own, so that the host can tell the timers apart. */
const TIMEOUT_MS = 200_000;
/** For a whole set on a loaded machine. */
const LIMIT_MS = 110_000;
/** After its last row the host has nothing to do but to end. */
const LINGER_MS = 10_000;
const CALLS = { one: 1, four: 4, closes: 3 } as const;

export interface DriveOptions {
  readonly node: string;
  readonly client: ClientName;
  readonly rows: readonly Row[];
  readonly modules: 'cjs' | 'esm';
  /** For the host's process alone. */
  readonly env: Readonly<Record<string, string>>;
}

/** What one row looked like. All of it must be the same with and without the tap. */
export interface RowSeen {
  /** As the host saw it, as JSON. */
  readonly host: string;
  /** Requests as the server counted them. */
  readonly requests: string;
  /** The servers' names in records: that of the row, and that of an address where nobody is. */
  readonly servers: readonly string[];
  readonly problem: string | null;
}

export interface Drive {
  readonly rows: ReadonlyMap<string, RowSeen>;
  readonly problems: readonly string[];
  readonly stderr: string;
}

export async function drive({ node, client, rows, modules, env }: DriveOptions): Promise<Drive> {
  const servers = new Map<string, RowServer>();
  let child: ChildProcess | undefined;
  for (const row of rows) {
    const expire = (): void => void child?.send({ row: row.id, expire: true });
    servers.set(row.id, await createRowServer(row, client, expire));
  }
  const plan = {
    client,
    modules,
    mark: MARK_NAME,
    waitMs: WAIT_MS,
    rows: [...servers.values()].map(({ row, port, callUrl }, n) => ({
      id: row.id,
      url: `http://127.0.0.1:${port}/mcp`,
      callUrl,
      host: row.host,
      calls: CALLS[row.host],
      timeoutMs: TIMEOUT_MS + n,
    })),
  };
  child = spawn(node, [HOST], {
    env: cleanEnv({ ...env, LAB_PLAN: JSON.stringify(plan) }),
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const seen = new Map<string, unknown>();
  const problems: string[] = [];
  child.on('message', (message: { row: string; sign?: HostSign; seen?: unknown }) => {
    if (message.sign !== undefined) servers.get(message.row)?.sign(message.sign);
    else seen.set(message.row, message.seen);
  });
  const stderr = await ended(child, problems);

  const result = new Map<string, RowSeen>();
  for (const [id, server] of servers) {
    const host = seen.get(id) as { failed?: unknown } | undefined;
    result.set(id, {
      host: JSON.stringify(host ?? null),
      requests: server.requests(),
      servers: [`127.0.0.1:${server.port}`, ...(server.callUrl === null ? [] : [hostPort(server.callUrl)])],
      problem: host === undefined || host.failed !== undefined ? `the host did not finish; ${server.state()}` : null,
    });
    await server.close();
  }
  return { rows: result, problems, stderr };
}

function hostPort(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '80' : port}`;
}

/** Resolves with its stderr when the process has ended, by itself or because its time was up. */
function ended(child: ChildProcess, problems: string[]): Promise<string> {
  return new Promise((resolve) => {
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const give = (why: string) => (): void => {
      problems.push(why);
      child.kill('SIGKILL');
    };
    let timer = setTimeout(give(`the host did not end within ${LIMIT_MS} ms`), LIMIT_MS);
    child.on('disconnect', () => {
      clearTimeout(timer);
      timer = setTimeout(give(`the host was still alive ${LINGER_MS} ms after its last row`), LINGER_MS);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code !== 0 && problems.length === 0) problems.push(`the host ended with ${code ?? signal}`);
      resolve(stderr);
    });
  });
}
