/**
 * Where bodies are kept until they are delivered: blocks of one size, so many for all requests together, used again. A body takes
 * few large pieces however many small ones it came in (a piece costs more than a hundred bytes beside its own), and a request holds
 * one block at least.
 */
const BLOCK_BYTES = 64 * 1024;
/** Kept for the next body; what a burst needed beyond is given back. */
const SPARE_BLOCKS = 16;

export interface Hold {
  /** false: there is no room for it. */
  add(piece: Buffer): boolean;
  /** What was added, in order; valid until `release`. */
  chunks(): Buffer[];
  release(): void;
}

export interface Room {
  /** Could so many bytes be added now? */
  hasRoomFor(bytes: number): boolean;
  createHold(): Hold;
}

export function createRoom(capacity: number): Room {
  const spare: Buffer[] = [];
  let heldBytes = 0;
  return {
    hasRoomFor: (bytes) => heldBytes + bytes <= capacity,
    createHold() {
      let blocks: Buffer[] = [];
      /** Of the last block. */
      let used = BLOCK_BYTES;
      return {
        add(piece) {
          for (let done = 0; done < piece.length; ) {
            if (used === BLOCK_BYTES) {
              if (heldBytes + BLOCK_BYTES > capacity) return false;
              heldBytes += BLOCK_BYTES;
              blocks.push(spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES));
              used = 0;
            }
            const count = piece.copy(blocks.at(-1) as Buffer, used, done);
            used += count;
            done += count;
          }
          return true;
        },
        chunks: () => blocks.map((block, i) => (i === blocks.length - 1 ? block.subarray(0, used) : block)),
        release() {
          heldBytes -= blocks.length * BLOCK_BYTES;
          spare.push(...blocks.slice(0, Math.max(0, SPARE_BLOCKS - spare.length)));
          blocks = [];
          used = BLOCK_BYTES;
        },
      };
    },
  };
}
