/** Starts one HTTP listener. What it serves, and to whom, is the caller's; limits that hold for all of them are here. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatListen, type ListenAddress } from './config-keys.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';

/** How long answers that are on their way may take at the stop. */
const CLOSE_MS = 1000;
const CLOSE_LOOK_MS = 20;

export interface RunningServer {
  /** The address it listens on, with the port that was taken. */
  readonly address: string;
  /** Takes nothing new, lets answers end for a second, then cuts off what is left. */
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
        // A connection that is kept alive is idle only when its answer is out.
        const idle = setInterval(() => server.closeIdleConnections(), CLOSE_LOOK_MS);
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
        server.close(() => {
          clearInterval(idle);
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}
