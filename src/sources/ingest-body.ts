/**
 * The body of one request, whole or not at all: decides how much is read, unpacked and held. A body that is too long, or for which
 * there is no room, is refused while it still arrives; one whose sender goes away leaves nothing. It must not look inside.
 */
import type { IncomingMessage } from 'node:http';
import { createGunzip, type Gunzip } from 'node:zlib';
import { REFUSALS, type Refusal, refusal } from './ingest-answer.ts';
import type { Room } from './ingest-room.ts';

export interface Body {
  readonly chunks: readonly Buffer[];
  /** After unpacking. */
  readonly bytes: number;
  /** Gives its room back: the chunks are no longer valid. */
  release(): void;
}

export interface BodyOptions {
  readonly gzip: boolean;
  /** On the wire, and again after unpacking. */
  readonly maxBytes: number;
  readonly room: Room;
}

const UNPACKED_BYTES = 64 * 1024;

const tooLong = (maxBytes: number): Refusal =>
  refusal('too_large', `more than ${maxBytes} bytes; send smaller batches`);

/** What the head tells already. */
export function refusedByHead(request: IncomingMessage, { maxBytes, room }: BodyOptions): Refusal | undefined {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return tooLong(maxBytes);
  return room.hasRoomFor(declared) ? undefined : REFUSALS.busy;
}

/** undefined: the sender went away. Room is held after a body alone. */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<Body | Refusal | undefined> {
  const { gzip, maxBytes, room } = options;
  return new Promise((resolve) => {
    const gunzip: Gunzip | undefined = gzip ? createGunzip({ chunkSize: UNPACKED_BYTES }) : undefined;
    const held = room.createHold();
    let bytes = 0;
    let wireBytes = 0;
    let isOver = false;

    const finish = (result: Body | Refusal | undefined): void => {
      if (isOver) return;
      isOver = true;
      request.off('data', onData);
      gunzip?.destroy();
      if (result === undefined || 'error' in result) held.release();
      resolve(result);
    };
    const finishBody = (): void => finish({ chunks: held.chunks(), bytes, release: held.release });
    const hold = (piece: Buffer): void => {
      if (isOver) return;
      bytes += piece.length;
      if (bytes > maxBytes) finish(tooLong(maxBytes));
      else if (!held.add(piece)) finish(REFUSALS.busy);
    };
    const onData = (piece: Buffer): void => {
      wireBytes += piece.length;
      if (wireBytes > maxBytes) finish(tooLong(maxBytes));
      else if (gunzip === undefined) hold(piece);
      // A bomb must not be unpacked ahead of what is looked at.
      else if (!gunzip.write(piece)) {
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
