/**
 * The latest success of each call, for a minute or two of a busy host: numbers in flat arrays, in two generations. As objects and
 * strings they would be most of what the garbage collector has to look at. It compares nothing; hashes stand for names, so that of two
 * calls it can say that they are not equal, and with a chance of 2^-32 wrongly that they are.
 */

import type { Exchange } from '../model/exchange.ts';
import { knownClientOf, rpcHash, toolOf } from '../model/exchange-names.ts';
import { hash53 } from '../model/hash53.ts';
import { LIMITS } from '../model/limits.ts';
import { keep } from '../state.ts';
import { countEviction, type StoreHealth } from '../store.ts';
import { clearTags, createTags, findTagged, isTagged, putTagged } from '../tags.ts';

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

/** 32 bits, never 0. */
const bits = (hash: number): number => hash >>> 0 || 1;
export const exchangeBits = (exchange: { readonly hash: number }): number => bits(exchange.hash);

/** As a key of a memory of clients. */
export const clientBits = (client: string): string => String(bits(hash53(client)));

const clientOf = (exchange: Exchange): number =>
  exchange.client === null ? 0 : bits(knownClientOf(exchange, exchange.client).hash);
const rpcOf = (exchange: Exchange): number => {
  const hash = rpcHash(exchange);
  return hash === 0 ? 0 : bits(hash);
};

const successOf = (exchange: Exchange): Success => ({
  exchange: exchangeBits(exchange),
  client: clientOf(exchange),
  rpc: rpcOf(exchange),
  openTs: exchange.openTs,
  openKnown: exchange.openKnown,
  ts: exchange.closeTs,
});

/** Mostly the one of the call before. */
const latestHost = { name: '', hash: hash53('') };
function hostHash(host: string): number {
  if (host !== latestHost.name) {
    latestHost.name = host;
    latestHost.hash = hash53(host);
  }
  return latestHost.hash;
}

/** Of host, server, tool and arguments; null where the arguments are not known. Never 0. */
export function callHash(exchange: Exchange): number | null {
  const { args_digest: digest } = exchange.fields;
  if (typeof digest !== 'string') return null;
  const place = toolOf(exchange).hash ^ Math.imul(hostHash(exchange.host), 0x85ebca6b);
  // The digest keeps its 53 bits; the rest moves them.
  return ((hash53(digest) + (place >>> 0) * 0x100001) % Number.MAX_SAFE_INTEGER) + 1;
}

type Six = [number, number, number, number, number, number];
/** Sixes, the newest end of their generation, and which one that is: 0 the younger. Two without it, in this order, hold one each. */
type SavedSlice = readonly [some: Float64Array, newest: number, age?: number];
const SLICE = 512;

/**
 * Open addressing, at most half full. A slot has 32 bytes, so that looking at it costs the memory one line: two numbers, the hash of the
 * call and its open time, then four words, how long it took in ms and the three hashes.
 */
const SLOT_NUMBERS = 4;
const SLOT_WORDS = 2 * SLOT_NUMBERS;
const FIRST_WORD = 4;

/** One of the two tables; the tags of both stand together. */
class Generation {
  /** Made when it is first needed: many hosts only read. */
  #numbers = new Float64Array(0);
  #words = new Uint32Array(0);
  size = 0;
  newest = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly tags: Uint8Array,
    private readonly table: number,
  ) {}

  /** Where a call stands, or ~ where it would. */
  find(hash: number): number {
    if (this.#numbers.length === 0) {
      this.#numbers = new Float64Array(SLOT_NUMBERS * SLOTS);
      this.#words = new Uint32Array(this.#numbers.buffer);
    }
    return findTagged(this.tags, this.table, this.#numbers, SLOT_NUMBERS, hash);
  }

  at(slot: number): Success {
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

  /** `slot`: as `find` gave it. */
  put(slot: number, hash: number, openTs: number, openKnown: boolean, ts: number): number {
    let at = slot;
    if (at < 0) {
      at = ~at;
      putTagged(this.tags, this.table, this.#numbers, SLOT_NUMBERS, at, hash);
      this.size++;
    }
    this.#numbers[SLOT_NUMBERS * at + 1] = openKnown ? openTs : -openTs;
    const w = SLOT_WORDS * at + FIRST_WORD;
    this.#words[w] = ts - openTs;
    if (ts > this.newest) this.newest = ts;
    return w;
  }

  putNames(word: number, exchange: number, client: number, rpc: number): void {
    this.#words[word + 1] = exchange;
    this.#words[word + 2] = client;
    this.#words[word + 3] = rpc;
  }

  /** Hash, open time, duration and the three hashes of each, some hundreds at a time. */
  *save(): Generator<Float64Array> {
    let slot = 0;
    for (let left = this.size; left > 0; ) {
      const some = new Float64Array(6 * Math.min(left, SLICE));
      for (let at = 0; at < some.length; slot++) {
        if (!isTagged(this.tags, this.table, slot)) continue;
        const [n, w] = [SLOT_NUMBERS * slot, SLOT_WORDS * slot + FIRST_WORD];
        for (let i = 0; i < 2; i++) some[at++] = this.#numbers[n + i] as number;
        for (let i = 0; i < 4; i++) some[at++] = this.#words[w + i] as number;
      }
      left -= some.length / 6;
      yield some;
    }
  }

  load(all: Float64Array, newest: number): void {
    for (let at = 0; at < all.length; at += 6) {
      const [hash, time, took, exchange, client, rpc] = all.subarray(at, at + 6) as unknown as Six;
      const openTs = Math.abs(time);
      const word = this.put(this.find(hash), hash, openTs, time >= 0, openTs + took);
      this.putNames(word, exchange, client, rpc);
    }
    this.newest = newest;
  }

  clear(): void {
    clearTags(this.tags, this.table);
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
  const tags = createTags(SLOTS);
  let young = new Generation(tags, 0);
  let old = new Generation(tags, 1);
  health.sizes.set(STORE, () => young.size + old.size);
  keep(health.parts, STORE, {
    *save() {
      for (const [age, each] of [young, old].entries())
        for (const some of each.save()) yield [some, each.newest, age] satisfies SavedSlice;
    },
    load(saved) {
      for (const [i, [some, newest, age = i]] of (saved as SavedSlice[]).entries())
        (age === 0 ? young : old).load(some, newest);
    },
  });
  return {
    swap(hash, exchange) {
      const ts = exchange.closeTs;
      let slot = young.find(hash);
      let before: Success | undefined;
      if (slot >= 0) before = young.at(slot);
      else if (old.size > 0) {
        const there = old.find(hash);
        if (there >= 0) before = old.at(there);
      }
      if (young.size >= half) {
        if (old.size > 0 && ts - old.newest <= keepMs) countEviction(health, STORE, old.size);
        old.clear();
        [young, old] = [old, young];
        slot = young.find(hash);
      }
      const word = young.put(slot, hash, exchange.openTs, exchange.openKnown, ts);
      young.putNames(word, exchangeBits(exchange), clientOf(exchange), rpcOf(exchange));
      return before === undefined ? undefined : { before, now: successOf(exchange) };
    },
  };
}
