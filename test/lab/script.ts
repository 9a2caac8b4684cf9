/**
 * What a fault script can do and wait for. Steps of a fault are ordered by what was observed (a request that arrived, a callback
 * of a socket, the host's word that it has read something), never by time.
 */
import type { ClientName } from './clients.ts';
import { type Revision, type RpcRequest, toolResult } from './messages.ts';
import { fin, rst, type WireRequest, write } from './wire.ts';

/** A request that waits for its answer from a script. */
export interface Call {
  readonly request: RpcRequest;
  /** Which of the calls that a row makes at the same time. */
  readonly n: number;
  /** JSON of the right answer. */
  result(isError?: boolean): string;
  /** Resolves when the kernel has the bytes. */
  write(bytes: string | Uint8Array): Promise<void>;
  fin(): Promise<void>;
  /** Bytes that the peer has not read are lost to it: wait for `lab.read` first. */
  rst(): Promise<void>;
  /** The peer has ended the connection. */
  left(): Promise<void>;
}

export interface Lab {
  readonly client: ClientName;
  readonly revision: Revision;
  /** The next tools/call of this row. */
  call(): Promise<Call>;
  /** That many of them, all waiting, in the order in which the host made them. */
  calls(count: number): Promise<Call[]>;
  /** The next GET with a Last-Event-ID. */
  resume(): Promise<Call>;
  /** The host has made its next call, so it has what it needs of this one. It gets its answer when the script has ended. */
  after(): Promise<void>;
  /** The host says that another of its calls has settled. */
  settled(): Promise<void>;
  /** The host waits, with all calls of the row in flight, to be let go. */
  barrier(): Promise<Call>;
  /** The client has asked for a stream of its own, as clients of 2025-11-25 do, and was told that there is none. */
  listened(): Promise<void>;
  /** The host's process has read the head of the latest answer, with what was written together with it. */
  read(): Promise<void>;
  /** The SDK has told the host of a progress notification. */
  progressed(): Promise<void>;
  /** The client's own timeout passes: the host's process fires it. Resolves when the client has said so, where it does say so. */
  timeOut(): Promise<void>;
}

export type Script = (lab: Lab) => Promise<void>;

export function createCall(wire: WireRequest, request: RpcRequest, revision: Revision): Call {
  const { socket } = wire;
  return {
    request,
    n: request.params?.arguments?.n ?? 0,
    result: (isError) => toolResult(request.id ?? null, revision, isError),
    write: (bytes) => write(socket, bytes),
    fin: () => fin(socket),
    rst: () => rst(socket),
    left: () =>
      new Promise((resolve) => {
        if (socket.destroyed) resolve();
        else socket.once('close', () => resolve());
      }),
  };
}

/** The bytes of one answer, then nothing, FIN or RST. Data before a FIN arrive in order; before an RST they must have been read. */
export function answer(bytes: (call: Call) => string | Uint8Array, then?: 'fin' | 'rst'): Script {
  return async (lab) => send(lab, await lab.call(), bytes, then);
}

export async function send(
  lab: Lab,
  call: Call,
  bytes: (call: Call) => string | Uint8Array,
  then?: 'fin' | 'rst',
): Promise<void> {
  await call.write(bytes(call));
  if (then === 'fin') await call.fin();
  if (then === 'rst') {
    await lab.read();
    await call.rst();
  }
}
