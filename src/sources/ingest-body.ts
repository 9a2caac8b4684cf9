/**
 * The body of one request, whole or not at all: decides how much is read, unpacked and held. A body that is too long, or for which
 * there is no room, is refused while it still arrives; one whose sender goes away leaves nothing. It must not look inside.
 */
import type { IncomingMessage } from 'node:http';
import { createGunzip, type Gunzip } from 'node:zlib';
import { REFUSALS, type Refusal, refusal } from './ingest-answer.ts';

/** Bytes held for all requests together. */
export interface Room {
  readonly held: number;
  readonly capacity: number;
  take(bytes: number): boolean;
  release(bytes: number): void;
}

export function createRoom(capacity: number): Room {
  let held = 0;
  return {
    get held() {
      return held;
    },
    capacity,
    take(bytes) {
      if (held + bytes > capacity) return false;
      held += bytes;
      return true;
    },
    release(bytes) {
      held -= bytes;
    },
  };
}

export interface Body {
  readonly chunks: readonly Buffer[];
  /** After unpacking. */
  readonly bytes: number;
  /** What was taken of the room for it, and has to be given back. */
  readonly taken: number;
}

export interface BodyOptions {
  readonly gzip: boolean;
  /** On the wire, and again after unpacking. */
  readonly maxBytes: number;
  readonly room: Room;
}

const tooLong = (maxBytes: number): Refusal =>
  refusal('too_large', `more than ${maxBytes} bytes; send smaller batches`);
const BLOCK_BYTES = 64 * 1024;
const FIRST_BLOCK_BYTES = 4 * 1024;

/** What the head tells already. */
export function refusedByHead(request: IncomingMessage, { maxBytes, room }: BodyOptions): Refusal | undefined {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return tooLong(maxBytes);
  return room.held + declared > room.capacity ? REFUSALS.busy : undefined;
}

/**
 * Bytes in a few large pieces, however many small ones they came in: a piece costs more than a hundred bytes beside its own. `total`
 * is how many are announced, 0 if nobody knows.
 */
function createBlocks(room: Room, total: number) {
  let blocks: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  let used = 0;
  let taken = 0;
  let size = total > 0 ? Math.min(total, BLOCK_BYTES) : FIRST_BLOCK_BYTES;
  return {
    /** false: there is no room. */
    add(chunk: Buffer): boolean {
      for (let done = 0; done < chunk.length; ) {
        if (used === last.length) {
          if (!room.take(size)) return false;
          taken += size;
          if (used > 0) blocks.push(last);
          last = Buffer.allocUnsafeSlow(size);
          used = 0;
          size = Math.min(BLOCK_BYTES, total > 0 ? Math.max(1, total - taken) : 2 * size);
        }
        const count = chunk.copy(last, used, done);
        used += count;
        done += count;
      }
      return true;
    },
    all: (): Buffer[] => (used > 0 ? [...blocks, last.subarray(0, used)] : blocks),
    taken: () => taken,
    release(): void {
      room.release(taken);
      blocks = [];
      last = Buffer.alloc(0);
      used = taken = 0;
    },
  };
}

/** undefined: the sender went away. Nothing is held after anything but a body. */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<Body | Refusal | undefined> {
  const { gzip, maxBytes, room } = options;
  return new Promise((resolve) => {
    const gunzip: Gunzip | undefined = gzip ? createGunzip({ chunkSize: BLOCK_BYTES }) : undefined;
    const blocks = createBlocks(room, gzip ? 0 : Number(request.headers['content-length'] ?? 0));
    let bytes = 0;
    let wireBytes = 0;
    let isOver = false;

    const finish = (result: Body | Refusal | undefined): void => {
      if (isOver) return;
      isOver = true;
      request.off('data', onData);
      gunzip?.destroy();
      if (result === undefined || !('chunks' in result)) blocks.release();
      resolve(result);
    };
    const finishBody = (): void => finish({ chunks: blocks.all(), bytes, taken: blocks.taken() });
    const hold = (chunk: Buffer): void => {
      if (isOver) return;
      bytes += chunk.length;
      if (bytes > maxBytes) finish(tooLong(maxBytes));
      else if (!blocks.add(chunk)) finish(REFUSALS.busy);
    };
    const onData = (chunk: Buffer): void => {
      wireBytes += chunk.length;
      if (wireBytes > maxBytes) finish(tooLong(maxBytes));
      else if (gunzip === undefined) hold(chunk);
      // A bomb must not be unpacked ahead of what is looked at.
      else if (!gunzip.write(chunk)) {
        request.pause();
        gunzip.once('drain', () => request.resume());
      }
    };
    gunzip?.on('data', hold);
    gunzip?.on('end', finishBody);
    gunzip?.on('error', () => finish(refusal('bad_gzip', 'the body is no gzip stream, or a cut one')));
    request.on('data', onData);
    request.on('end', () => {
      if (gunzip === undefined || wireBytes === 0) finishBody();
      else gunzip.end();
    });
    request.on('error', () => finish(undefined));
    request.on('close', () => {
      if (!request.readableEnded) finish(undefined);
    });
  });
}
