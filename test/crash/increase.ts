/**
 * What a scraper's samples add up to, resets corrected as Prometheus' `increase()` does it, without its extrapolation. It knows neither
 * who scraped nor what was written.
 */

/** Each of them grows by one for a line that is written. */
export const FAMILIES = ['tailfin_events_total', 'tailfin_stream_closes_total', 'tailfin_operations_total'] as const;

/** The first sample of a series adds nothing, one that is lower than the one before it adds its whole value. */
export class Increase {
  readonly #before = new Map<string, number>();
  readonly sums: Record<string, number> = Object.fromEntries(FAMILIES.map((name) => [name, 0]));
  /** Samples that were lower than the one before them. */
  resets = 0;
  /** Samples that showed more events than the one before them: where there are none, nobody looked on. */
  rises = 0;
  /** What was above 0 when it was first seen, and so was missed. */
  lateDebuts = 0;

  get series(): number {
    return this.#before.size;
  }

  /** Samples of a series come in their order. */
  take(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    if (!(name in this.sums)) return;
    const key = name + JSON.stringify(labels);
    const before = this.#before.get(key);
    this.#before.set(key, value);
    if (before === undefined) {
      if (value !== 0) this.lateDebuts++;
      return;
    }
    if (value < before) this.resets++;
    if (value > before && name === FAMILIES[0]) this.rises++;
    this.sums[name] = (this.sums[name] as number) + (value >= before ? value - before : value);
  }

  /** Sums minus what was written, by family. */
  errors(written: number): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.sums).map(([name, sum]) => [name, sum - written]));
  }
}
