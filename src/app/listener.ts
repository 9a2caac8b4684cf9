/** Starts one HTTP listener. What it serves, and to whom, is the caller's; limits that hold for all of them are here. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatListen, type ListenAddress } from './config-keys.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';

export interface RunningServer {
  /** The address it listens on, with the port that was taken. */
  readonly address: string;
  close(): Promise<void>;
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
export async function startListener(listen: ListenAddress, app: RequestListener): Promise<RunningServer> {
  // A scraper sends a few hundred bytes, a batch comes from next door: whoever holds a socket longer is neither.
  const limits = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
  const server = createServer(limits, app);
  server.maxConnections = 256;
  try {
    await listening(server, listen);
  } catch (error) {
    throw new RuntimeFailure(`cannot listen on ${formatListen(listen)}: ${reasonOf(error)}`);
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
