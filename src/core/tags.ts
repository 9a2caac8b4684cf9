/**
 * A byte per slot in front of a table of 53-bit hashes. Nearly every question to such a table is answered by no; the bytes of a table fit
 * into a near cache where the table does not, so that a no costs no trip to the memory. It decides nothing: the numbers do.
 */

const HIGH = 2 ** -32;

/** From bits that do not choose the slot; never 0, which marks a free slot. */
const tagOf = (hash: number): number => ((hash * HIGH) & 0x7f) | 0x80;

export const createTags = (slots: number): Uint8Array => new Uint8Array(slots);

/** Where the hash stands, or ~ the free slot where it would stand. `stride`: numbers per slot, of which the first is the hash. */
export function findTagged(tags: Uint8Array, numbers: Float64Array, stride: number, hash: number): number {
  const mask = tags.length - 1;
  const tag = tagOf(hash);
  let slot = (hash | 0) & mask;
  for (;;) {
    const found = tags[slot] as number;
    if (found === 0) return ~slot;
    if (found === tag && numbers[stride * slot] === hash) return slot;
    slot = (slot + 1) & mask;
  }
}

export function putTagged(tags: Uint8Array, numbers: Float64Array, stride: number, slot: number, hash: number): void {
  tags[slot] = tagOf(hash);
  numbers[stride * slot] = hash;
}
