/**
 * A byte per slot in front of two tables of 53-bit hashes, an older and a younger one. Nearly every question to such a table is answered
 * by no; the bytes fit into a near cache where the tables do not, and those of both tables stand side by side, so that a no for both
 * costs one look. It decides nothing: the numbers do.
 */

const HIGH = 2 ** -32;

/** From bits that do not choose the slot; never 0, which marks a free slot. */
const tagOf = (hash: number): number => ((hash * HIGH) & 0x7f) | 0x80;

/** Of two tables, 0 and 1. */
export const createTags = (slots: number): Uint8Array => new Uint8Array(2 * slots);

/**
 * Where the hash stands in a table, or ~ the free slot where it would stand. `stride`: numbers per slot of that table, of which the
 * first is the hash.
 */
export function findTagged(
  tags: Uint8Array,
  table: number,
  numbers: Float64Array,
  stride: number,
  hash: number,
): number {
  const mask = (tags.length >> 1) - 1;
  const tag = tagOf(hash);
  let slot = (hash | 0) & mask;
  for (;;) {
    const found = tags[2 * slot + table] as number;
    if (found === 0) return ~slot;
    if (found === tag && numbers[stride * slot] === hash) return slot;
    slot = (slot + 1) & mask;
  }
}

export function putTagged(
  tags: Uint8Array,
  table: number,
  numbers: Float64Array,
  stride: number,
  slot: number,
  hash: number,
): void {
  tags[2 * slot + table] = tagOf(hash);
  numbers[stride * slot] = hash;
}

export const isTagged = (tags: Uint8Array, table: number, slot: number): boolean => tags[2 * slot + table] !== 0;

/** A slot without a tag is free, whatever its numbers are. */
export function clearTags(tags: Uint8Array, table: number): void {
  for (let at = table; at < tags.length; at += 2) tags[at] = 0;
}
