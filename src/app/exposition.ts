/**
 * What scrapers are shown: one snapshot for all of them, never one that a crash could take back. It decides when a snapshot may be
 * shown (not before a start has read what it may have shown in an earlier life), how long it is shared, and how long a stop waits for the
 * last scrape. What is in a snapshot and in a record it must not know.
 */
import type { Cell, Cells } from '../core/measures/cells.ts';
import { createDebut } from '../exporters/debut.ts';
import type { Format } from '../exporters/negotiate.ts';
import { type Numbers, takeNumbers } from '../exporters/otel-numbers.ts';
import type { PrometheusExporter, Shot } from '../exporters/prometheus.ts';
import type { IsHeld } from '../exporters/samples.ts';
import { nextTurn } from '../sources/next-turn.ts';
import type { SourceStatus } from '../sources/source.ts';
import { type Checkpoint, movement } from './checkpoint/checkpoint.ts';
import type { Start } from './checkpoint/restore.ts';
import { createScrapeRhythm } from './scrape-rhythm.ts';

export interface ExpositionOptions {
  readonly cells: Cells;
  readonly exporter: PrometheusExporter;
  /** Brings gauges up to date. */
  readonly refresh: () => void;
  readonly statuses: () => readonly SourceStatus[];
  /** undefined: nothing is kept, and numbers are shown as they come. */
  readonly checkpoint: Checkpoint | undefined;
  readonly start: Start;
  /** Has the sources wait until what it returns is called, where there are checkpoints. */
  readonly hold?: () => () => void;
  /** A new series shows 0 for so long. */
  readonly holdMs: number;
  /** Somebody will ask for the numbers themselves (`collect`). */
  readonly withNumbers?: boolean;
  readonly now: () => number;
  readonly elapsed?: () => number;
}

export type Scrape =
  | { readonly text: string /** The answer is out. */; readonly answered: () => void }
  | { readonly notYet: string };

/** What a push gets: the numbers of the snapshot that scrapers see. */
export interface Collected {
  readonly numbers: Numbers;
  /** When they were taken, Unix ms. */
  readonly atMs: number;
  /** The backend has them. */
  readonly answered: () => void;
}

export interface Exposition {
  scrape(format: Format): Promise<Scrape>;
  /** undefined: nothing may be shown yet. Only where `withNumbers` is set. */
  collect(): Promise<Collected | undefined>;
  /** For the last push of all: every series with its value, none held at 0. */
  collectAll(): Promise<Collected | undefined>;
  /** Has a record written, and keeps what it holds for scrapes to come. */
  renew(): Promise<void>;
  /** No scrape will come any more: what the last push showed must not begin at 0 in the next life. Before the last record. */
  keepLastPush(): void;
  /** Waits until what is there now was answered to a scrape; at most so long, and not at all where nobody will come. */
  lastScrape(mostMs: number): Promise<'seen' | 'missed' | 'nobody'>;
}

/** Scrapers within this time share a snapshot, and the record that it stands in. */
const SHARE_MS = 1000;
/**
 * A scrape waits so long for numbers of its own, and not at all where the last record took longer; else it is given the last ones that are
 * durable, where they are no older than this.
 */
const PATIENCE_MS = 50;
const STALE_MS = 10_000;
/** A start without a usable record shows nothing for so long at most. */
const REPLAY_MS = 60_000;
const LOOK_MS = 20;

interface Taken {
  readonly shot: Shot;
  readonly numbers: Numbers;
  readonly at: number;
  /** Unix ms. */
  readonly atMs: number;
  readonly movement: number;
  readonly debutants: readonly Cell[];
  /** All of it can be seen: no series that has counted is held. */
  readonly isWhole: boolean;
}

interface Committed {
  readonly taken: Taken;
  readonly isDurable: boolean;
  /** It is shown all the same. */
  exposing?: Promise<boolean> | undefined;
}

/** What comes of `work`, else after so long `otherwise`. */
async function firstOf<T>(work: Promise<T>, otherwise: () => T, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

export function createExposition(options: ExpositionOptions): Exposition {
  const { cells, exporter, refresh, statuses, checkpoint, start, now, elapsed = () => performance.now() } = options;
  // Without checkpoints each scrape has a snapshot of its own: some that overlap would hold the sources for good.
  const hold = (checkpoint === undefined ? undefined : options.hold) ?? (() => () => {});
  const debut = createDebut();
  const rhythm = createScrapeRhythm(elapsed);
  const startedAt = elapsed();
  /** What was shown in an earlier life is no debut: it would seem to begin again. */
  let isReplaying = start !== 'restored';
  const isHolding = checkpoint !== undefined && options.holdMs > 0;
  let holdMs = options.holdMs;
  let latest: Taken | undefined;
  let taking: Promise<Committed> | undefined;
  /** Of the last record. */
  let tookMs = 0;
  /** Somebody was given the last numbers who would have waited for newer ones. */
  let isDue = false;
  let seen: Taken | undefined;
  /** Held for scrapers, and shown by the last push. */
  let pushed: readonly Cell[] = [];

  /** Not caught up with what was there at the start: why nothing is shown yet. */
  function notYet(): string | undefined {
    if (!isReplaying) return undefined;
    const left = statuses().filter(({ tail }) => tail !== undefined && tail.backlogRatio < 1);
    if (left.length > 0 && elapsed() - startedAt < REPLAY_MS) {
      const bytes = left.reduce((sum, { lagBytes }) => sum + lagBytes, 0);
      return `reading what was there at the start, ${bytes} bytes left`;
    }
    isReplaying = false;
    checkpoint?.caughtUp();
    if (start !== 'none') debut.showAll(cells.families());
    return undefined;
  }

  /** Gauges are up to date. */
  function take(): Taken {
    const at = elapsed();
    const atMs = now();
    const numbersOf = (isHeld?: IsHeld): Numbers =>
      options.withNumbers === true ? takeNumbers(cells.families(), isHeld) : [];
    if (!isHolding) {
      const taken = { shot: exporter.take(), numbers: numbersOf(), at, atMs };
      return { ...taken, movement: movement(cells), debutants: [], isWhole: true };
    }
    debut.release(cells.families(), now(), holdMs);
    const held = [...cells.families()].some((family) =>
      family.cells.some((cell) => debut.isHeld(family, cell) && cell.value !== 0),
    );
    return {
      ...{ shot: exporter.take(debut.isHeld), numbers: numbersOf(debut.isHeld), at, atMs, movement: movement(cells) },
      ...{ debutants: debut.debutants(cells.families()), isWhole: !held },
    };
  }

  /** The record first, then what it holds; that may be shown at once where the record is durable. */
  async function commit(): Promise<Committed> {
    if (checkpoint === undefined) {
      refresh();
      return { taken: take(), isDurable: true };
    }
    let taken: Taken | undefined;
    const askedAt = elapsed();
    const isDurable = await checkpoint.commit(async () => {
      refresh();
      // At the caps each of the two takes as long as others should wait; the sources wait all the while.
      await nextTurn();
      taken = take();
    });
    tookMs = elapsed() - askedAt;
    if (taken === undefined) refresh();
    // The sources went on meanwhile; what is shown is what was taken.
    const committed = { taken: taken ?? take(), isDurable };
    if (isDurable) latest = committed.taken;
    return committed;
  }

  function renew(): Promise<Committed> {
    taking ??= commit().finally(() => {
      taking = undefined;
    });
    return taking;
  }

  /** undefined: nothing may be shown. */
  async function fresh(): Promise<Taken | undefined> {
    const committed = await renew();
    if (committed.isDurable) return committed.taken;
    committed.exposing ??= checkpoint?.exposeUncommitted();
    const known = latest;
    if ((await committed.exposing) === false)
      return known !== undefined && elapsed() - known.at < STALE_MS ? known : undefined;
    // A newer one may have become durable meanwhile: who saw it must not see an older one after that.
    if (latest === undefined || latest.at <= committed.taken.at) latest = committed.taken;
    return latest;
  }

  async function current(): Promise<Taken | undefined> {
    const known = latest;
    if (known === undefined || checkpoint === undefined) return fresh();
    const ageMs = elapsed() - known.at;
    if (ageMs < SHARE_MS) return known;
    if (ageMs >= STALE_MS) return fresh();
    if (tookMs <= PATIENCE_MS) return firstOf(fresh(), () => latest ?? known, PATIENCE_MS);
    isDue = true;
    return known;
  }

  /** The record that an answer did not wait for, once the answer is out: beside it both would take longer. */
  function catchUp(): void {
    if (!isDue) return;
    isDue = false;
    // Who needs its outcome asks again.
    setImmediate(() => fresh().catch(() => {}));
  }

  /** In slices, as reading is: if both took turns, a scraper would wait for both. */
  async function render({ shot }: Taken, format: Format): Promise<string> {
    const goOn = hold();
    try {
      return await shot.render(format);
    } finally {
      goOn();
    }
  }

  return {
    async renew() {
      if (notYet() === undefined) await renew();
      else await checkpoint?.commit();
    },
    async scrape(format) {
      const reason = notYet();
      if (reason !== undefined) return { notYet: reason };
      const taken = await current();
      if (taken === undefined) return { notYet: 'the disk of the checkpoints does not answer' };
      const text = await render(taken, format);
      catchUp();
      return {
        text,
        answered() {
          debut.served(taken.debutants, now());
          if (seen === undefined || taken.at >= seen.at) seen = taken;
          rhythm.scraped();
        },
      };
    },
    async collect() {
      if (notYet() !== undefined) return undefined;
      const taken = await current();
      catchUp();
      if (taken === undefined) return undefined;
      const { numbers, atMs, debutants } = taken;
      return { numbers, atMs, answered: () => debut.served(debutants, now()) };
    },
    async collectAll() {
      if (notYet() !== undefined) return undefined;
      let all: Collected | undefined;
      const take = (): void => {
        refresh();
        const held = isHolding ? debut.held(cells.families()) : [];
        const answered = (): void => {
          pushed = held;
        };
        all = { numbers: takeNumbers(cells.families()), atMs: now(), answered };
      };
      if (checkpoint === undefined) take();
      else if (!(await checkpoint.commit(take)) && !(await checkpoint.exposeUncommitted())) return undefined;
      return all;
    },
    keepLastPush() {
      debut.shown(pushed);
    },
    async lastScrape(mostMs) {
      const waitMs = rhythm.nextWithinMs(mostMs);
      const isSeen = (): boolean => seen?.isWhole === true && seen.movement === movement(cells);
      if (waitMs === 0) return isSeen() ? 'seen' : 'nobody';
      // Each new series shows its 0 once; there is no time for more.
      holdMs = 0;
      if (!isSeen()) latest = undefined;
      const endsAt = elapsed() + waitMs;
      while (!isSeen() && elapsed() < endsAt) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      return isSeen() ? 'seen' : 'missed';
    },
  };
}
