/**
 * How long one record may wait for the disk, all its waits together. A disk that hangs must not hold the sources and every scrape for ever:
 * the record is given up then, and nothing more is asked of the disk until it has answered. It must not decide what to do instead.
 */

/** A usual interval of scrapes: longer than a busy disk takes, and no batch by HTTP and no file waits for more than this. */
export const DISK_MS = 15_000;

export class SlowDisk extends Error {
  constructor() {
    super(`the disk has not answered for ${DISK_MS / 1000} s`);
  }
}

export interface Patience {
  /** A new record: its time begins. @throws SlowDisk while an answer is due from before. */
  begin(): void;
  /** @throws SlowDisk when the time is over; `work` goes on all the same, and its outcome is nobody's. */
  wait<T>(work: Promise<T>): Promise<T>;
}

/** `answered`: what was given up has come to its end after all. */
export function createPatience(elapsed: () => number, answered: () => void): Patience {
  let leftMs = DISK_MS;
  /** Answers that are due. */
  let due = 0;

  function giveUp(work: Promise<unknown>): void {
    due++;
    const settled = (): void => {
      if (--due === 0) answered();
    };
    work.then(settled, settled);
  }

  return {
    begin() {
      if (due > 0) throw new SlowDisk();
      leftMs = DISK_MS;
    },
    async wait(work) {
      const startedAt = elapsed();
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          giveUp(work);
          reject(new SlowDisk());
        }, leftMs);
      });
      try {
        return await Promise.race([work, over]);
      } finally {
        clearTimeout(timer);
        leftMs = Math.max(0, leftMs - (elapsed() - startedAt));
      }
    },
  };
}
