/** Starts the servers of a set of rows and one host process that calls them all, and gathers what each side saw. */
import type { ClientName } from './clients.ts';
import { type HostProcess, startHost } from './host-process.ts';
import { createRowServer, type RowServer } from './row-server.ts';
import type { Row } from './rows.ts';

export interface DriveOptions {
  readonly node: string;
  readonly client: ClientName;
  readonly rows: readonly Row[];
  readonly modules: 'cjs' | 'esm';
  /** For the host's process alone. */
  readonly env: Readonly<Record<string, string>>;
}

/** What one row looked like. `host` and `requests` must be the same with and without the tap. */
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

export async function drive({ rows, ...options }: DriveOptions): Promise<Drive> {
  const servers = new Map<string, RowServer>();
  let host: HostProcess | undefined;
  for (const row of rows) servers.set(row.id, await createRowServer(row, options.client, () => host?.expire(row.id)));
  host = startHost({
    ...options,
    rows: [...servers.values()].map(({ row, port, callUrl }) => ({
      id: row.id,
      url: `http://127.0.0.1:${port}/mcp`,
      callUrl,
      host: row.host,
    })),
    onSign: (row, sign) => servers.get(row)?.sign(sign),
  });
  const { seen, problems, stderr } = await host.ended;

  const result = new Map<string, RowSeen>();
  for (const [id, server] of servers) {
    const saw = seen.get(id);
    result.set(id, {
      host: saw ?? 'null',
      requests: server.requests(),
      servers: [`127.0.0.1:${server.port}`, ...(server.callUrl === null ? [] : [hostPort(server.callUrl)])],
      problem: saw === undefined ? `the host did not finish; ${server.state()}` : null,
    });
    await server.close();
  }
  return { rows: result, problems, stderr };
}

function hostPort(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? '80' : port}`;
}
