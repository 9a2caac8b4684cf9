/**
 * The time of the pipeline where there are several sources: the least of what each has delivered up to. A source that is idle says
 * so itself, by publishing the wall clock. One that has published nothing yet (-Infinity) may still be about to deliver what was
 * kept for it while nobody ran: until it speaks, time goes on through what is older than the start, and no further. It decides
 * nothing about lines.
 */
export interface Watermark {
  /** `source` has delivered everything up to `mark` (Unix ms). Returns the time of all of them, which never goes back. */
  advance(source: string, mark: number): number;
}

/** `startedAt`: wall clock, Unix ms. */
export function createWatermark(sources: readonly string[], startedAt: number): Watermark {
  const marks = new Map(sources.map((source) => [source, Number.NEGATIVE_INFINITY]));
  let time = Number.NEGATIVE_INFINITY;
  return {
    advance(source, mark) {
      const before = marks.get(source);
      if (before === undefined) throw new Error(`no source ${source}`);
      if (mark > before) marks.set(source, mark);
      const heard = [...marks.values()].filter((each) => each !== Number.NEGATIVE_INFINITY);
      const least = heard.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...heard);
      const isSilent = heard.length < marks.size;
      if (least > time && !(isSilent && least >= startedAt)) time = least;
      return time;
    },
  };
}
