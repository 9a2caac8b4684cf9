/** The one hash of texts: what stands for a name or an id in tables of numbers. It holds nothing. */

/** Two 32-bit multiply-xorshift hashes in one 53-bit number (cyrb53); never 0, which marks a free slot. */
export function hash53(text: string): number {
  let a = A;
  let b = B;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return joined(a, b);
}

/** The same of a text that stands in bytes, one for each character. */
export function hash53Of(bytes: Uint8Array, start: number, length: number): number {
  let a = A;
  let b = B;
  for (let i = start; i < start + length; i++) {
    const code = bytes[i] as number;
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return joined(a, b);
}

const A = 0xdeadbeef;
const B = 0x41c6ce57;

function joined(first: number, second: number): number {
  const a = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
  const b = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0) || 1;
}
