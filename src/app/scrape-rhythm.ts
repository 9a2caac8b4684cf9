/**
 * How often somebody scrapes: how long a stop has to wait for the next one. A guess from the latest gaps; where nobody ever came, or who
 * came has left, there is nothing to wait for.
 */
export interface ScrapeRhythm {
  scraped(): void;
  /** By when the next scrape should come, at most `most`; 0: none will. */
  nextWithinMs(most: number): number;
}

const KEPT = 4;
/** A scraper may be late, or be restarted: it has left when so many of its gaps have passed. */
const PATIENCE = 3;
const LATE = 2;

export function createScrapeRhythm(elapsed: () => number): ScrapeRhythm {
  let last: number | undefined;
  let gaps: number[] = [];
  return {
    scraped() {
      const at = elapsed();
      if (last !== undefined) gaps = [...gaps, at - last].slice(-KEPT);
      last = at;
    },
    nextWithinMs(most) {
      if (last === undefined) return 0;
      const silence = elapsed() - last;
      const gap = gaps.length === 0 ? silence : Math.max(...gaps);
      // Of people who look again and again within a second nobody knows when they come next.
      if (gaps.length > 0 && silence > PATIENCE * Math.max(gap, 1000)) return 0;
      return Math.min(most, LATE * Math.max(gap, silence));
    },
  };
}
