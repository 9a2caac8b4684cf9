/** The latest evidence records, as the lines they are written as: flat text holds nothing else alive. A ring, no history. */

/** Fields that `/api/evidence` can filter by, each equal to the record's own. */
export const FILTER_FIELDS = ['record', 'rule', 'server', 'outcome', 'result', 'method'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export interface Kept {
  readonly line: string;
  /** Unix ms of event time; NaN where the record has none. */
  readonly ts: number;
  readonly fields: Readonly<Record<FilterField, string | undefined>>;
}

export interface EvidenceRing {
  add(record: Readonly<Record<string, unknown>>, line: string): void;
  readonly size: number;
  newestFirst(): Iterable<Kept>;
}

export function createEvidenceRing(capacity: number): EvidenceRing {
  const ring: Kept[] = [];
  let next = 0;
  return {
    add(record, line) {
      const fields = Object.fromEntries(FILTER_FIELDS.map((field) => [field, record[field]])) as Kept['fields'];
      ring[next] = { line, ts: Date.parse(String(record.ts)), fields };
      next = (next + 1) % capacity;
    },
    get size() {
      return ring.length;
    },
    *newestFirst() {
      for (let i = 1; i <= ring.length; i++) yield ring[(next - i + capacity) % capacity] as Kept;
    },
  };
}
