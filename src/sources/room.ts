/** Where a source reads lines into. */
import type { LineSink } from './source.ts';

/** Memory of the sink's own, which spares it a copy of every line, or any other. */
export function roomFor(sink: Pick<LineSink, 'room'>, bytes: number): Buffer {
  const room = sink.room?.(bytes);
  return room === undefined || room === null
    ? Buffer.allocUnsafe(bytes)
    : Buffer.from(room.buffer, room.byteOffset, room.length);
}
