/**
 * The latest success of each call, for a minute or two of a busy host: numbers in flat arrays, in two generations. As objects and
 * strings they would be most of what the garbage collector has to look at. It compares nothing; hashes stand for names, so that of two
 * calls it can say that they are not equal, and with a chance of 2^-32 wrongly that they are.
 */

import { hash53 } from '../generation-set.ts';
import type { Exchange } from '../model/exchange.ts';
import { clientOf } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import { keep } from '../state.ts';
import { countEviction, type StoreHealth } from '../store.ts';
import { createTags, findTagged, putTagged } from '../tags.ts';

export interface Success {
  /** Of the exchange's key: 32 bits of its hash. */
  readonly exchange: number;
  /** Of its client's key; 0: not known. */
  readonly client: number;
  /** Of its JSON-RPC id; 0: not known. */
  readonly rpc: number;
  readonly openTs: number;
  readonly openKnown: boolean;
  /** Event time of its end. */
  readonly ts: number;
}

const STORE = 'successful_writes';
const SLOTS = 2 ** Math.ceil(Math.log2(LIMITS.successfulWrites));

/** One hash per name: the same few come again and again. Cleared whole, as in intern.ts. */
const hashes = new Map<string, number>();
function nameHash(name: string): number {
  const known = hashes.get(name);
  if (known !== undefined) return known;
  if (hashes.size >= 1024) hashes.clear();
  const hash = hash53(name);
  hashes.set(name, hash);
  return hash;
}

/** 32 bits, never 0. */
const bits = (hash: number): number => hash >>> 0 || 1;
export const exchangeBits = (exchange: { readonly hash: number }): number => bits(exchange.hash);

/** As a key of a memory of clients. */
export const clientBits = (client: string): string => String(bits(nameHash(client)));

export const successOf = (exchange: Exchange): Success => ({
  exchange: exchangeBits(exchange),
  client: exchange.client === null ? 0 : bits(nameHash(clientOf(exchange))),
  rpc: typeof exchange.fields.rpc_id === 'string' ? bits(hash53(exchange.fields.rpc_id)) : 0,
  openTs: exchange.openTs,
  openKnown: exchange.openKnown,
  ts: exchange.closeTs,
});

/** Of host, server, tool and arguments; null where the arguments are not known. Never 0. */
export function callHash({ host, server, fields }: Exchange): number | null {
  const { target, args_digest: digest } = fields;
  if (typeof digest !== 'string') return null;
  const place =
    nameHash(server) ^ Math.imul(nameHash(target ?? ''), 0x9e3779b1) ^ Math.imul(nameHash(host), 0x85ebca6b);
  // The digest keeps its 53 bits; the rest moves them.
  return ((hash53(digest) + (place >>> 0) * 0x100001) % Number.MAX_SAFE_INTEGER) + 1;
}

type Six = [number, number, number, number, number, number];

/**
 * Open addressing, at most half full. A slot has 32 bytes, so that looking at it costs the memory one line: two numbers, the hash of the
 * call and its open time, then four words, how long it took in ms and the three hashes.
 */
const SLOT_NUMBERS = 4;
const SLOT_WORDS = 2 * SLOT_NUMBERS;
const FIRST_WORD = 4;

class Generation {
  /** Made when it is first needed: many hosts only read. */
  #numbers = new Float64Array(0);
  #tags = createTags(0);
  #words = new Uint32Array(0);
  size = 0;
  newest = Number.NEGATIVE_INFINITY;

  get(hash: number): Success | undefined {
    if (this.size === 0) return undefined;
    const slot = findTagged(this.#tags, this.#numbers, SLOT_NUMBERS, hash);
    return slot < 0 ? undefined : this.#at(slot);
  }

  #at(slot: number): Success {
    const time = this.#numbers[SLOT_NUMBERS * slot + 1] as number;
    const openTs = Math.abs(time);
    const w = SLOT_WORDS * slot + FIRST_WORD;
    return {
      openTs,
      // A time that is not known has its sign turned.
      openKnown: time >= 0,
      ts: openTs + (this.#words[w] as number),
      exchange: this.#words[w + 1] as number,
      client: this.#words[w + 2] as number,
      rpc: this.#words[w + 3] as number,
    };
  }

  set(hash: number, { exchange, client, rpc, openTs, openKnown, ts }: Success): void {
    if (this.#numbers.length === 0) {
      this.#numbers = new Float64Array(SLOT_NUMBERS * SLOTS);
      this.#words = new Uint32Array(this.#numbers.buffer);
      this.#tags = createTags(SLOTS);
    }
    let slot = findTagged(this.#tags, this.#numbers, SLOT_NUMBERS, hash);
    if (slot < 0) {
      slot = ~slot;
      putTagged(this.#tags, this.#numbers, SLOT_NUMBERS, slot, hash);
      this.size++;
    }
    this.#numbers[SLOT_NUMBERS * slot + 1] = openKnown ? openTs : -openTs;
    const w = SLOT_WORDS * slot + FIRST_WORD;
    this.#words[w] = ts - openTs;
    this.#words[w + 1] = exchange;
    this.#words[w + 2] = client;
    this.#words[w + 3] = rpc;
    if (ts > this.newest) this.newest = ts;
  }

  /** Hash, open time, duration and the three hashes of each. */
  save(): Float64Array {
    const all = new Float64Array(6 * this.size);
    let at = 0;
    for (let slot = 0; slot < this.#tags.length; slot++) {
      if (this.#tags[slot] === 0) continue;
      const [n, w] = [SLOT_NUMBERS * slot, SLOT_WORDS * slot + FIRST_WORD];
      all.set(this.#numbers.subarray(n, n + 2), at);
      all.set(this.#words.subarray(w, w + 4), at + 2);
      at += 6;
    }
    return all;
  }

  load(all: Float64Array, newest: number): void {
    for (let at = 0; at < all.length; at += 6) {
      const [hash, time, took, exchange, client, rpc] = all.subarray(at, at + 6) as unknown as Six;
      const openTs = Math.abs(time);
      this.set(hash, { openTs, openKnown: time >= 0, ts: openTs + took, exchange, client, rpc });
    }
    this.newest = newest;
  }

  clear(): void {
    this.#tags.fill(0);
    this.size = 0;
    this.newest = Number.NEGATIVE_INFINITY;
  }
}

export interface SuccessLog {
  /** Notes it as the latest one of its call, and returns the one before. */
  swap(hash: number, exchange: Exchange): { readonly before: Success; readonly now: Success } | undefined;
}

/** `keepMs`: a generation that is forgotten while its newest entry is younger counts as given up. */
export function createSuccessLog(health: StoreHealth, keepMs: number): SuccessLog {
  const half = LIMITS.successfulWrites / 2;
  let young = new Generation();
  let old = new Generation();
  health.sizes.set(STORE, () => young.size + old.size);
  keep(health.parts, STORE, {
    save: () => [young, old].map((each) => [each.save(), each.newest]),
    load(saved) {
      for (const [i, [all, newest]] of (saved as [Float64Array, number][]).entries())
        (i === 0 ? young : old).load(all, newest);
    },
  });
  return {
    swap(hash, exchange) {
      const now = successOf(exchange);
      const before = young.get(hash) ?? old.get(hash);
      if (young.size >= half) {
        if (old.size > 0 && now.ts - old.newest <= keepMs) countEviction(health, STORE, old.size);
        old.clear();
        [young, old] = [old, young];
      }
      young.set(hash, now);
      return before === undefined ? undefined : { before, now };
    },
  };
}
