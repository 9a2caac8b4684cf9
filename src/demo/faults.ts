/**
 * The faults that the gateway injects, what Tailfin has to say about each, and the seeded draw. The expectations are written
 * down here, independent of the sidecar's code: they are what its verdicts are checked against.
 */
export interface Expectation {
  readonly outcome: 'clean' | 'abandoned' | 'ambiguous';
  /** Any of these. */
  readonly causes: readonly string[];
  /** Where the response bytes stop, for event streams; not compared when absent. */
  readonly cut?: 'boundary' | 'mid';
  readonly delivered: boolean;
}

export const FAULTS = {
  /** The response passes untouched. */
  pass: { outcome: 'clean', causes: ['terminal_seen'], delivered: true },
  /** An event stream ends well-formed, between two events, before the answer. */
  cut_boundary: { outcome: 'ambiguous', causes: ['no_evidence'], cut: 'boundary', delivered: false },
  /** The same, inside the event that holds the answer. Still a well-formed end: a strong hint, no proof. */
  cut_mid_event: { outcome: 'ambiguous', causes: ['no_evidence'], cut: 'mid', delivered: false },
  /** A JSON body stops in mid-token under a well-formed HTTP end. */
  cut_json: { outcome: 'abandoned', causes: ['cut_payload'], delivered: false },
  /** The connection is dropped inside the body. */
  reset: { outcome: 'abandoned', causes: ['transport_error'], delivered: false },
  /** Not injected: the host hung up or cancelled first (a slow machine). */
  client_left: { outcome: 'abandoned', causes: ['client_cancel', 'client_timeout'], delivered: false },
} as const satisfies Record<string, Expectation>;

export type Fault = keyof typeof FAULTS;

/** What will happen to one response, by the kind of its body. */
export interface FaultPlan {
  /** JSON: the fault strikes after this many bytes; a shorter body passes. Long answers are hit more often. */
  readonly jsonBytes: number;
  readonly jsonFault: 'cut_json' | 'reset';
  readonly streamFault: 'pass' | 'cut_boundary' | 'cut_mid_event' | 'reset';
}

/** A constant hazard per byte: one fault per 768 KiB of JSON on average, every sixth of them a dropped connection. */
const MEAN_JSON_BYTES = 768 * 1024;
const JSON_RESET = 1 / 6;
/** Event streams: 9 %, 2 % and 3 % (cumulative shares). */
const STREAM_FAULTS = [
  ['cut_boundary', 0.09],
  ['cut_mid_event', 0.11],
  ['reset', 0.14],
] as const;

/** The same key draws the same fault in every run with the same seed, whatever the timing. */
export function drawFault(seed: number, key: string): FaultPlan {
  const random = seededRandom(seed, key);
  const jsonBytes = 1 + Math.floor(-Math.log(1 - random()) * MEAN_JSON_BYTES);
  const jsonFault = random() < JSON_RESET ? 'reset' : 'cut_json';
  const draw = random();
  const streamFault = STREAM_FAULTS.find(([, upTo]) => draw < upTo)?.[0] ?? 'pass';
  return { jsonBytes, jsonFault, streamFault };
}

/** mulberry32, started from an FNV-1a hash of seed and key. */
export function seededRandom(seed: number, key: string): () => number {
  let state = 0x811c9dc5;
  for (const char of `${seed}/${key}`) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
