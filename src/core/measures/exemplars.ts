/**
 * The one trace that a series shows as an example: the newest by event time, one per counter and one per bucket of a histogram, so
 * that memory is bounded by the series. Which series show one stands in the catalog; nothing else is decided here.
 */
import { isTraceparent } from '../protocol/traceparent.ts';
import type { MetricSpec } from './catalog.ts';

export interface Exemplar {
  /** A valid W3C traceparent. */
  traceparent: string;
  /** What was added to the counter, or observed. */
  value: number;
  /** Event time of the sample, Unix ms. */
  ts: number;
}

/** By bucket; a counter has the first place alone. */
export type Exemplars = (Exemplar | undefined)[];

/** Where the exemplars of a series with these labels go; null: it has none. */
export function placesFor({ exemplars, labels, buckets }: MetricSpec, values: readonly string[]): Exemplars | null {
  if (exemplars === undefined) return null;
  if (exemplars !== 'all') {
    const at = labels.findIndex(([name]) => name === exemplars.label);
    if (exemplars.except.includes(values[at] as string)) return null;
  }
  // No holes: their look-up would leave the array.
  return new Array<Exemplar | undefined>(buckets === undefined ? 1 : buckets.length + 1).fill(undefined);
}

/**
 * Takes the sample as the example of its place. An older one does not replace a newer one: operations are counted late, and
 * Prometheus refuses an exemplar that goes back in time.
 */
export function keepExemplar(places: Exemplars, at: number, traceparent: string, value: number, ts: number): void {
  const kept = places[at];
  if ((kept !== undefined && ts < kept.ts) || !isTraceparent(traceparent)) return;
  if (kept === undefined) places[at] = { traceparent, value, ts };
  else {
    kept.traceparent = traceparent;
    kept.value = value;
    kept.ts = ts;
  }
}
