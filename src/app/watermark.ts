/**
 * The time of the pipeline where there are several sources: the least of what each has delivered up to. A source that is idle
 * says so itself, by publishing the wall clock (sources/*); one that has published nothing yet holds time where it is. It decides
 * nothing about lines.
 */
export interface Watermark {
  /** `source` has delivered everything up to `mark` (Unix ms). Returns the time of all of them; it never goes back. */
  advance(source: string, mark: number): number;
}

export function createWatermark(sources: readonly string[]): Watermark {
  const marks = new Map(sources.map((source) => [source, Number.NEGATIVE_INFINITY]));
  return {
    advance(source, mark) {
      const known = marks.get(source);
      if (known === undefined) throw new Error(`no source ${source}`);
      if (mark > known) marks.set(source, mark);
      return Math.min(...marks.values());
    },
  };
}
