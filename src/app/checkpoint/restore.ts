/**
 * What a start goes on from: the newest record that can be read. Whatever is wrong with a state folder, the sidecar starts; it says why
 * it goes on from an older record or from nothing, and counts it. It decides whether numbers may be shown at once.
 */
import type { Saved } from '../../core/state.ts';
import { reasonOf } from '../exit.ts';
import { type RecordHead, STATE_FORMAT } from './checkpoint.ts';
import { decodeRecord } from './record.ts';
import type { Slots } from './slots.ts';

/** restored: goes on. behind: newer numbers than the record's were shown. none: the first start here. unusable: there was one. */
export type Start = 'restored' | 'behind' | 'none' | 'unusable';

export interface Restored {
  readonly start: Start;
  readonly sources: RecordHead['sources'];
  readonly parts: Saved;
  /** When the counters began at 0, Unix ms, where the record says so. */
  readonly since: number | undefined;
  /** When it was taken, Unix ms, where the record says so. */
  readonly at: number | undefined;
  readonly generation: number;
  /** What cannot be used, one line each. */
  readonly problems: readonly string[];
}

interface FormedRecord {
  readonly head: RecordHead;
  readonly parts: Saved;
}

/** What two rules remember of the latest calls has another form since 2: a finding may be missed at first, no number is. */
const REMEMBERED_OTHERWISE = new Set(['client_calls', 'successful_writes']);

/** From each earlier format to the next one. */
export const UPGRADES: Readonly<Record<number, (record: FormedRecord) => FormedRecord>> = {
  1: ({ head, parts }) => ({
    head: { ...head, format: 2 },
    parts: [...parts].filter(([name]) => !REMEMBERED_OTHERWISE.has(name)),
  }),
};

/** @throws where it cannot be used. */
export function readRecord(bytes: Buffer, upgrades = UPGRADES, format = STATE_FORMAT): FormedRecord {
  const { head, parts } = decodeRecord(bytes);
  if (typeof head !== 'object' || head === null || typeof (head as RecordHead).sources !== 'object')
    throw new Error('it has no head');
  let record: FormedRecord = { head: head as RecordHead, parts };
  while (record.head.format !== format) {
    const upgrade = upgrades[record.head.format];
    if (upgrade === undefined) throw new Error(`state format ${record.head.format}, this version reads ${format}`);
    const { format: before } = record.head;
    record = upgrade(record);
    if (!(record.head.format > before)) throw new Error(`no way on from state format ${before}`);
  }
  return record;
}

export async function restore(slots: Slots): Promise<Restored> {
  const { found, problems: damaged } = await slots.load();
  const problems = [...damaged];
  for (const [i, { generation, record, isExposed }] of found.entries()) {
    try {
      const { head, parts } = readRecord(record);
      // One that is newer was shown, though this version cannot read it.
      const start = isExposed || i > 0 ? 'behind' : 'restored';
      return { start, sources: head.sources, parts, since: head.since, at: head.at, generation, problems };
    } catch (error) {
      problems.push(`record ${generation}: ${reasonOf(error)}`);
    }
  }
  const start = problems.length === 0 ? 'none' : 'unusable';
  return { start, sources: {}, parts: [], since: undefined, at: undefined, generation: 0, problems };
}
