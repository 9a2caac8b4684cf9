/** Keys of two names, as one string per pair. It remembers keys alone, and forgets them all when it is full. */
import { internalized } from './intern.ts';

const PAIR_KEYS = 1024;
/** Joins two names. Such keys are asked for several times for each exchange, and else joined and hashed anew each time. */
export function createPairKeys(): (a: string, b: string) => string {
  const keys = new Map<string, Map<string, string>>();
  let size = 0;
  return (a, b) => {
    const known = keys.get(a)?.get(b);
    if (known !== undefined) return known;
    // Cleared whole rather than aged, as in intern.ts.
    if (size >= PAIR_KEYS) {
      keys.clear();
      size = 0;
    }
    const key = internalized(`${a}\n${b}`);
    const ofA = keys.get(a);
    if (ofA === undefined) keys.set(a, new Map([[b, key]]));
    else ofA.set(b, key);
    size++;
    return key;
  };
}
