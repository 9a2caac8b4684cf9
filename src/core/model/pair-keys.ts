/**
 * Pairs of names, each with its key and the hash of that, put together once. It holds no state that anything depends on: what it forgets
 * is put together again.
 */
import { hash53 } from './hash53.ts';
import { joined } from './intern.ts';

export interface Pair {
  readonly key: string;
  /** Of the key. */
  readonly hash: number;
}

const PAIRS = 1024;
/** Such keys are asked for several times for each exchange, and else joined and hashed anew each time. */
export function createPairs(): (a: string, b: string) => Pair {
  const pairs = new Map<string, Map<string, Pair>>();
  let size = 0;
  /** Mostly it is the one that was asked for before: one host, one server. */
  let latest = '';
  let ofLatest: Map<string, Pair> | undefined;
  return (a, b) => {
    if (a !== latest || ofLatest === undefined) {
      ofLatest = pairs.get(a);
      latest = a;
    }
    const known = ofLatest?.get(b);
    if (known !== undefined) return known;
    // Cleared whole rather than aged, as in intern.ts.
    if (size >= PAIRS) {
      pairs.clear();
      ofLatest = undefined;
      size = 0;
    }
    const key = joined(a, '\n', b);
    const pair = { key, hash: hash53(key) };
    if (ofLatest === undefined) {
      ofLatest = new Map();
      pairs.set(a, ofLatest);
    }
    ofLatest.set(b, pair);
    size++;
    return pair;
  };
}
