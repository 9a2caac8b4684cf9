/**
 * The latest success of each call, for minutes of a busy host: rows of flat arrays in two generations, since as many objects would be
 * most of what the garbage collector has to look at. It compares nothing.
 */
import type { Exchange } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { countEviction, hash53, type StoreHealth } from '../store.ts';

export interface Success {
  readonly exchange: string;
  readonly host: string;
  readonly client: string | null;
  /** 0: not known. */
  readonly rpcHash: number;
  readonly openTs: number;
  readonly openKnown: boolean;
  /** Event time of its end. */
  readonly ts: number;
}

export const successOf = (exchange: Exchange): Success => ({
  exchange: exchange.id,
  host: exchange.host,
  client: exchange.client,
  rpcHash: typeof exchange.fields.rpc_id === 'string' ? hash53(exchange.fields.rpc_id) : 0,
  openTs: exchange.openTs,
  openKnown: exchange.openKnown,
  ts: exchange.closeTs,
});

const STORE = 'successful_writes';
const NUMBERS = 5;
const NAMES = 3;

/** Open addressing, at most half full. */
class Generation {
  readonly #slots = 2 ** Math.ceil(Math.log2(LIMITS.successfulWrites));
  #numbers = new Float64Array(0);
  #names: (string | null)[] = [];
  size = 0;
  newest = Number.NEGATIVE_INFINITY;

  /** The slot of a hash, or the free one where it would stand. */
  #find(hash: number): number {
    const mask = this.#slots - 1;
    let slot = (hash | 0) & mask;
    for (;;) {
      const value = this.#numbers[slot * NUMBERS];
      if (value === 0 || value === hash) return slot;
      slot = (slot + 1) & mask;
    }
  }

  get(hash: number): Success | undefined {
    if (this.size === 0) return undefined;
    const slot = this.#find(hash);
    const n = slot * NUMBERS;
    const s = slot * NAMES;
    if (this.#numbers[n] === 0) return undefined;
    return {
      exchange: this.#names[s] as string,
      host: this.#names[s + 1] as string,
      client: this.#names[s + 2] as string | null,
      rpcHash: this.#numbers[n + 1] as number,
      openTs: this.#numbers[n + 2] as number,
      openKnown: this.#numbers[n + 3] === 1,
      ts: this.#numbers[n + 4] as number,
    };
  }

  set(hash: number, { exchange, host, client, rpcHash, openTs, openKnown, ts }: Success): void {
    // Made when it is first needed: many hosts only read.
    if (this.#numbers.length === 0) {
      this.#numbers = new Float64Array(this.#slots * NUMBERS);
      this.#names = new Array<string | null>(this.#slots * NAMES).fill(null);
    }
    const slot = this.#find(hash);
    const n = slot * NUMBERS;
    const s = slot * NAMES;
    if (this.#numbers[n] === 0) this.size++;
    this.#numbers[n] = hash;
    this.#numbers[n + 1] = rpcHash;
    this.#numbers[n + 2] = openTs;
    this.#numbers[n + 3] = openKnown ? 1 : 0;
    this.#numbers[n + 4] = ts;
    this.#names[s] = exchange;
    this.#names[s + 1] = host;
    this.#names[s + 2] = client;
    this.newest = Math.max(this.newest, ts);
  }

  clear(): void {
    this.#numbers.fill(0);
    this.#names.fill(null);
    this.size = 0;
    this.newest = Number.NEGATIVE_INFINITY;
  }
}

export interface SuccessLog {
  /** Notes it as the latest one of its call, and returns the one before. */
  swap(key: string, success: Success): Success | undefined;
}

/** `keepMs`: a generation that is forgotten while its newest entry is younger counts as given up. */
export function createSuccessLog(health: StoreHealth, keepMs: number): SuccessLog {
  const half = LIMITS.successfulWrites / 2;
  let young = new Generation();
  let old = new Generation();
  health.sizes.set(STORE, () => young.size + old.size);
  return {
    swap(key, success) {
      const hash = hash53(key);
      const before = young.get(hash) ?? old.get(hash);
      if (young.size >= half) {
        if (old.size > 0 && success.ts - old.newest <= keepMs) countEviction(health, STORE, old.size);
        old.clear();
        [young, old] = [old, young];
      }
      young.set(hash, success);
      return before;
    },
  };
}
