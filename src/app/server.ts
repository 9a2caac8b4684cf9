/** The scrape listener: /metrics, /healthz, /readyz. It shows counts and states only, so it may listen on all interfaces. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { SourceStatus } from '../sources/source.ts';
import { formatListen, type ListenAddress } from './config-keys.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';
import { VERSION } from './version.ts';

export interface ServerOptions {
  readonly listen: ListenAddress;
  readonly contentType: string;
  readonly metrics: () => Promise<string>;
  readonly statuses: () => readonly SourceStatus[];
}

export interface RunningServer {
  /** The address it listens on, with the port that was taken. */
  readonly address: string;
  close(): Promise<void>;
}

/** Why the sidecar is not (yet) doing its whole job; empty when it is. */
export function notReady(statuses: readonly SourceStatus[]): string[] {
  return statuses.flatMap((status) => [
    ...status.faults.map((fault) => `source fault: ${fault}`),
    ...(status.state === 'waiting' ? [`${status.name}: waiting for files`] : []),
    ...(status.state === 'replaying' ? [`${status.name}: replaying, ${status.lagBytes} bytes behind`] : []),
  ]);
}

function createApp({ contentType, metrics, statuses }: ServerOptions): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/metrics', async (_request, response) => {
    const body = await metrics();
    response.set('Content-Type', contentType).send(body);
  });
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok', version: VERSION });
  });
  app.get('/readyz', (_request, response) => {
    const reasons = notReady(statuses());
    response.status(reasons.length === 0 ? 200 : 503).json({ ready: reasons.length === 0, reasons });
  });
  app.get('/', (_request, response) => {
    response.type('text').send('tailfin: /metrics /healthz /readyz\n');
  });
  return app;
}

const listening = (server: Server, { host, port }: ListenAddress): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** @throws RuntimeFailure when the address cannot be taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createServer(createApp(options));
  // A scraper sends a few hundred bytes; whoever holds a socket longer is not one.
  server.requestTimeout = 10_000;
  server.maxConnections = 256;
  try {
    await listening(server, options.listen);
  } catch (error) {
    throw new RuntimeFailure(`cannot listen on ${formatListen(options.listen)}: ${reasonOf(error)}`);
  }
  const { address, port } = server.address() as AddressInfo;
  return {
    address: formatListen({ host: address, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
