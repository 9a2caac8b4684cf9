/**
 * HTTP/1.1 on raw sockets, for a server that must be able to break every rule: reads whole requests, writes any bytes, ends a
 * connection with FIN or RST. It knows nothing of MCP and decides no fault.
 */
import { createServer, type Server, type Socket } from 'node:net';

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly socket: Socket;
}

export interface WireServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A server on a free port of the loopback. */
export async function listen(onRequest: (request: WireRequest) => void): Promise<WireServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    // Peers of a fault server may break off at any moment; scripts see it as the end of the socket.
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    readRequests(socket, onRequest);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function readRequests(socket: Socket, onRequest: (request: WireRequest) => void): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (let head = pending.indexOf('\r\n\r\n'); head >= 0; head = pending.indexOf('\r\n\r\n')) {
      const [requestLine = '', ...lines] = pending.toString('latin1', 0, head).split('\r\n');
      const headers = new Map(lines.map(splitHeader));
      const end = head + 4 + Number(headers.get('content-length') ?? 0);
      if (pending.length < end) return;
      const [method = '', path = ''] = requestLine.split(' ');
      const body = pending.toString('utf8', head + 4, end);
      pending = pending.subarray(end);
      onRequest({ method, path, headers, body, socket });
    }
  });
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Resolves when the kernel has the bytes. A connection that the peer has left takes them too: nothing is left to say there. */
export function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.write(bytes, () => resolve());
  });
}

/** FIN, after everything that was written. */
export function fin(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.end(() => resolve());
  });
}

/** RST, at once: bytes that the peer has not read yet are lost to it. */
export function rst(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else {
      socket.once('close', () => resolve());
      socket.resetAndDestroy();
    }
  });
}
