/** Starts the host's process (host.cjs) with its plan, passes signs between it and the servers, and says how it ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../support/cli.ts';
import type { ClientName } from './clients.ts';
import { MARK_NAME } from './mark.ts';

const HOST = fileURLToPath(new URL('host.cjs', import.meta.url));
/**
 * How long a caller waits for a stream that has ended: more than the second below which it is not reported, by as much as a busy
 * machine may take to see the end.
 */
const WAIT_MS = 3000;
/** Timeouts that the clients are told; each row has its own, so that the host can tell the timers apart. */
const TIMEOUT_MS = 200_000;
/** For a whole set on a loaded machine. */
const LIMIT_MS = 110_000;
/** After its last row the host has nothing to do but to end. */
const LINGER_MS = 10_000;
const CALLS = { one: 1, four: 4, closes: 3 } as const;

export type HostSign = 'read' | 'progressed';

export interface RowPlan {
  readonly id: string;
  readonly url: string;
  /** Where the calls of the row's tool go instead. */
  readonly callUrl: string | null;
  /** What the host does: one call; four at the same time; three, and then it closes the client. */
  readonly host: keyof typeof CALLS;
}

export interface HostOptions {
  readonly node: string;
  readonly client: ClientName;
  readonly modules: 'cjs' | 'esm';
  readonly env: Readonly<Record<string, string>>;
  readonly rows: readonly RowPlan[];
  readonly onSign?: (row: string, sign: HostSign) => void;
}

export interface HostEnd {
  /** What it saw of each row, as JSON; undefined: it did not finish. */
  readonly seen: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
  readonly stderr: string;
}

export interface HostProcess {
  /** The client's own timeout passes for the calls of this row. */
  expire(row: string): void;
  readonly ended: Promise<HostEnd>;
}

export function startHost({ node, client, modules, env, rows, onSign }: HostOptions): HostProcess {
  const plan = {
    client,
    modules,
    mark: MARK_NAME,
    waitMs: WAIT_MS,
    rows: rows.map((row, n) => ({ ...row, calls: CALLS[row.host], timeoutMs: TIMEOUT_MS + n })),
  };
  const child = spawn(node, [HOST], {
    env: cleanEnv({ ...env, LAB_PLAN: JSON.stringify(plan) }),
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const seen = new Map<string, string>();
  child.on('message', (message: { row: string; sign?: HostSign; seen?: { failed?: unknown } }) => {
    if (message.sign !== undefined) onSign?.(message.row, message.sign);
    else if (message.seen?.failed === undefined) seen.set(message.row, JSON.stringify(message.seen));
  });
  return {
    expire: (row) => void child.send({ row, expire: true }),
    ended: ending(child).then((end) => ({ seen, ...end })),
  };
}

/** Resolves when the process has ended, by itself or because its time was up. */
function ending(child: ChildProcess): Promise<Omit<HostEnd, 'seen'>> {
  return new Promise((resolve) => {
    const problems: string[] = [];
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
      resolve({ problems, stderr });
    });
  });
}
