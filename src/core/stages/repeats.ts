/**
 * Remembers which lines of a writer came, for sources that may deliver one twice: a POST whose answer was lost is sent again.
 * A line is told by (writer, seq, ts). `ts` is what tells the lives of a writer apart: `seq` 0 of a new life is another line than
 * `seq` 0 of the one before, whatever arrived in between, and sequence.ts agrees, since a repeat is never newer than what was
 * seen. It must not guess: what it has forgotten counts as new.
 */
import { LIMITS } from '../model/limits.ts';
import { keep, keepValues } from '../state.ts';
import { countEviction, type StoreHealth } from '../store.ts';

/** For a line whose time could not be read. */
export const NO_TIME = -1;

const FIRST_SLOTS = 64;
/** `seq` of a free slot. */
const FREE = -1;

/** (seq, ts) pairs by open addressing: two numbers a slot, at most three quarters of them in use. */
class Table {
  slots = FIRST_SLOTS;
  count = 0;
  #pairs = new Float64Array(2 * FIRST_SLOTS).fill(FREE);

  /** The free slot for a pair, or -1 where it is in the table. */
  find(seq: number, ts: number): number {
    const pairs = this.#pairs;
    const mask = this.slots - 1;
    for (let slot = hash(seq, ts) & mask; ; slot = (slot + 1) & mask) {
      const held = pairs[2 * slot];
      if (held === FREE) return slot;
      if (held === seq && pairs[2 * slot + 1] === ts) return -1;
    }
  }

  put(slot: number, seq: number, ts: number): void {
    this.#pairs[2 * slot] = seq;
    this.#pairs[2 * slot + 1] = ts;
    this.count++;
  }

  get isCrowded(): boolean {
    return 4 * this.count >= 3 * this.slots;
  }

  /** The pairs alone. */
  save(): Float64Array {
    const all = new Float64Array(2 * this.count);
    let at = 0;
    for (let slot = 0; slot < this.slots; slot++) {
      if (this.#pairs[2 * slot] === FREE) continue;
      all.set(this.#pairs.subarray(2 * slot, 2 * slot + 2), at);
      at += 2;
    }
    return all;
  }

  load(slots: number, all: Float64Array): this {
    this.slots = slots;
    this.#pairs = new Float64Array(2 * slots).fill(FREE);
    for (let at = 0; at < all.length; at += 2) {
      const [seq, ts] = [all[at] as number, all[at + 1] as number];
      this.put(this.find(seq, ts), seq, ts);
    }
    return this;
  }

  grow(): void {
    const old = this.#pairs;
    this.slots *= 2;
    this.#pairs = new Float64Array(2 * this.slots).fill(FREE);
    this.count = 0;
    for (let at = 0; at < old.length; at += 2) {
      const seq = old[at] as number;
      const ts = old[at + 1] as number;
      if (seq !== FREE) this.put(this.find(seq, ts), seq, ts);
    }
  }
}

function hash(seq: number, ts: number): number {
  // Times may have fractions; the low bits of both parts differ between neighbours.
  const time = Math.imul((ts | 0) ^ Math.floor(ts / 4294967296), 0x9e3779b1);
  const place = Math.imul((seq | 0) ^ Math.floor(seq / 4294967296), 0x85ebca6b);
  const mixed = Math.imul(time ^ (time >>> 15) ^ place ^ (place >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

type SavedTable = readonly [slots: number, pairs: Float64Array] | null;
type SavedMemory = readonly [name: string, heard: number, young: SavedTable, old: SavedTable];

interface Memory {
  /** Time of the pipeline when it was heard last. */
  heard: number;
  young: Table;
  old: Table | null;
}

export interface Repeats {
  /** Has this line come before? Remembers it. `ts`: Unix ms, or NO_TIME. */
  isRepeat(writer: string, seq: number, ts: number): boolean;
  tick(now: number): void;
}

export function createRepeats(health: StoreHealth): Repeats {
  /** Least recently heard first. */
  const writers = new Map<string, Memory>();
  const own = keepValues(health.parts, 'repeats', {
    now: Number.NEGATIVE_INFINITY,
    nextSweep: Number.NEGATIVE_INFINITY,
  });
  let slots = 0;
  let lines = 0;
  let latest = '';
  keep(health.parts, 'recent_lines', {
    *save() {
      for (const [name, { heard, young, old }] of writers)
        yield [name, heard, ...[young, old].map((table) => table && [table.slots, table.save()])];
    },
    load(saved) {
      for (const [name, heard, ...tables] of saved as SavedMemory[]) {
        const [young, old] = tables.map((table) => table && new Table().load(...table));
        for (const table of [young, old]) {
          slots += table?.slots ?? 0;
          lines += table?.count ?? 0;
        }
        writers.set(name, { heard, young: young as Table, old: old ?? null });
      }
      if (writers.size > 0) show();
    },
  });
  /** A source that may repeat itself is there. */
  const show = (): void => {
    health.sizes.set('recent_lines', () => lines);
  };

  const drop = (table: Table | null): number => {
    if (table === null) return 0;
    slots -= table.slots;
    lines -= table.count;
    return table.count;
  };
  const forget = (name: string, { young, old }: Memory): number => {
    writers.delete(name);
    if (latest === name) latest = '';
    return drop(young) + drop(old);
  };
  /** Makes room at the cost of whoever was not heard longest; the writer that needs it is the last. */
  const reserve = (more: number): void => {
    for (const [name, memory] of writers) {
      if (slots + more <= LIMITS.recentSlots && writers.size <= LIMITS.writers) break;
      if (name === latest) break;
      countEviction(health, 'recent_lines', forget(name, memory));
    }
    slots += more;
  };
  const hear = (name: string): Memory => {
    const known = writers.get(name);
    if (known !== undefined && name === latest) return known;
    const memory = known ?? { heard: own.now, young: new Table(), old: null };
    writers.delete(name);
    writers.set(name, memory);
    latest = name;
    if (known === undefined) reserve(FIRST_SLOTS);
    return memory;
  };
  const makeRoom = (memory: Memory): void => {
    if (memory.young.count < LIMITS.recentLines) {
      reserve(memory.young.slots);
      memory.young.grow();
      return;
    }
    drop(memory.old);
    memory.old = memory.young;
    memory.young = new Table();
    reserve(FIRST_SLOTS);
  };

  return {
    isRepeat(name, seq, ts) {
      if (writers.size === 0) show();
      const memory = hear(name);
      memory.heard = own.now;
      let slot = memory.young.find(seq, ts);
      if (slot < 0 || (memory.old !== null && memory.old.find(seq, ts) < 0)) return true;
      if (memory.young.isCrowded) {
        makeRoom(memory);
        slot = memory.young.find(seq, ts);
      }
      memory.young.put(slot, seq, ts);
      lines++;
      return false;
    },
    tick(to) {
      const isFirst = own.now === Number.NEGATIVE_INFINITY;
      own.now = to;
      if (to < own.nextSweep) return;
      own.nextSweep = to + LIMITS.sweepMs;
      for (const [name, memory] of writers) {
        if (isFirst) memory.heard = to;
        else if (memory.heard < to - LIMITS.memoryMs) forget(name, memory);
      }
    },
  };
}
