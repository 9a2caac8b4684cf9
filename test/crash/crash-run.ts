/**
 * The real `tailfin run` under load, killed again and again, as two scrapers see it, and a real Prometheus beside them if it is asked
 * for: what their samples add up to (increase.ts) against what was written. It checks nothing; the difference is the answer.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAIN } from '../support/cli.ts';
import { parseExposition } from '../support/exposition.ts';
import { freePort } from '../support/free-port.ts';
import { random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { FAMILIES, Increase } from './increase.ts';
import { type StoredAccount, type Storing, startStoring } from './stored.ts';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** A real Prometheus stores the samples too: its binary. */
  readonly prometheus?: string | undefined;
  readonly say?: (line: string) => void;
}

export interface ScraperAccount {
  readonly everyMs: number;
  readonly answers: number;
  readonly refusals: number;
  readonly resets: number;
  readonly lateDebuts: number;
  /** Before the last kill. */
  readonly rises: number;
  /** Reset-corrected sums minus what was written, by family. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface CrashReport {
  readonly lines: number;
  readonly kills: number;
  readonly rotations: number;
  readonly scrapers: readonly ScraperAccount[];
  readonly stored: StoredAccount | undefined;
}

const SCRAPE_MS = [150, 230] as const;
const HOUR = 3_600_000;
const KILLS_PER_SERVER = 4;
/**
 * A snapshot is shared for 1 s, so that the numbers of a short life stand. Each fourth life goes on until whoever scrapes has seen them
 * rise, however slow the machine, and is killed a while after: that a new series was shown as 0 outlives a kill only in the record after.
 */
const LIVES_MS = { short: [250, 750], afterRise: [0, 1500] } as const;
export const LIVES_PER_RISE = 4;

/** One line in ten is of a server that began a few kills ago: its series are new while the sidecar is killed. */
const lineOf = (n: number, ts: number, kill: number): string => {
  const isBroken = n % 7 === 0;
  const server = n % 10 === 0 ? `later${Math.floor(kill / KILLS_PER_SERVER)}` : `srv${n % 9}`;
  return `${JSON.stringify({
    ...{ v: 1, type: 'close', ts, open_ts: ts - 5, exchange: `x${n}`, client: `c${n % 5}`, server },
    ...{ endpoint: `http://10.0.0.${n % 3}:80/mcp`, method: 'tools/call', target: 'get', args_digest: `a${n}` },
    ...{ protocol_version: '2025-11-25', status: 200, content_type: 'text/event-stream', bytes: 300 + n, events: 1 },
    ...(isBroken
      ? { how: 'error', by: 'peer', cut: 'mid' }
      : { how: 'eof', by: 'peer', terminal: true, id_match: 'match' }),
  })}\n`;
};

export async function crashRun({ kills, seed, prometheus, say = () => {} }: CrashOptions): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-crash-'));
  const events = join(folder, 'events');
  mkdirSync(events);
  const next = random(seed);
  // Not by the seed: two runs at once would scrape each other's.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/metrics`;
  let isOver = false;
  let lines = 0;
  let rotations = 0;
  let kill = 0;
  let lastKillAt = 0;
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const busy: Promise<unknown>[] = [];

  const begin = (): ChildProcess => {
    const args = ['run', '--events', join(events, '*'), '--state-dir', join(folder, 'state')];
    const listen = ['--metrics-listen', `127.0.0.1:${port}`, '--local-listen', '127.0.0.1:0'];
    const times = ['--scrape-interval-seconds', '1', '--log-level', 'warn'];
    const born = spawn(process.execPath, [MAIN, ...args, ...listen, ...times], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    ended = new Promise((resolve) => born.once('exit', resolve));
    return born;
  };
  /** Also where this process ends first, by whatever error. */
  const killLast = (): void => void child?.kill('SIGKILL');
  process.once('exit', killLast);
  const isUp = async (): Promise<boolean> =>
    fetch(url).then(
      async (answer) => (await answer.arrayBuffer()) !== undefined && answer.status === 200,
      () => false,
    );

  /** Some thousand lines a second, torn now and then, in files that are renamed; times run ahead fast, and end well in the past. */
  async function write(): Promise<void> {
    const start = Date.now() - 3 * HOUR;
    const current = join(events, 'live.ndjson');
    while (!isOver) {
      const batch = Array.from({ length: 40 + Math.floor(next() * 80) }, () =>
        lineOf(++lines, start + lines * 5, kill),
      );
      const text = batch.join('');
      const cut = next() < 0.3 ? Math.floor(next() * text.length) : text.length;
      appendFileSync(current, text.slice(0, cut));
      if (cut < text.length) {
        await sleep(next() * 10);
        appendFileSync(current, text.slice(cut));
      }
      if (next() < 0.01) renameSync(current, join(events, `old-${++rotations}.ndjson`));
      await sleep(20);
    }
  }

  async function scrape(
    everyMs: number,
    account: { answers: number; refusals: number },
    seen: Increase,
  ): Promise<void> {
    while (!isOver) {
      await sleep(everyMs * (0.7 + 0.6 * next()));
      try {
        const answer = await fetch(url);
        const text = await answer.text();
        if (answer.status !== 200) account.refusals++;
        else {
          account.answers++;
          for (const { name, labels, value } of parseExposition(text)) seen.take(name, labels, value);
        }
      } catch {
        // Killed.
      }
    }
  }

  const scrapers = SCRAPE_MS.map((everyMs) => ({ everyMs, answers: 0, refusals: 0, rises: 0, seen: new Increase() }));
  let storing: Storing | undefined;
  let stored: StoredAccount | undefined;
  async function riseAgain(): Promise<void> {
    const before = scrapers.map(({ seen }) => seen.rises);
    const haveRisen = (): boolean => scrapers.every(({ seen }, i) => seen.rises > (before[i] as number));
    await until(haveRisen, { timeoutMs: 60_000, what: `life ${kill} shows new numbers` });
    await storing?.scrapedAgain();
  }
  try {
    child = begin();
    await until(isUp, { timeoutMs: 60_000 });
    if (prometheus !== undefined) {
      storing = await startStoring(folder, `127.0.0.1:${port}`, prometheus);
      await storing.scrapedAgain();
    }
    const scraping = scrapers.map((scraper) => scrape(scraper.everyMs, scraper, scraper.seen));
    const writing = write();
    busy.push(writing, ...scraping);
    // An error of theirs is told where they are awaited.
    for (const each of busy) each.catch(() => {});
    // What is new shows 0 at first: killed before that is over, nobody would see a number before the last life.
    const isShown = (): boolean =>
      scrapers.every(({ seen }) => FAMILIES.every((name) => (seen.sums[name] as number) > 0));
    await until(isShown, { timeoutMs: 60_000, what: 'the first numbers' });
    await storing?.scrapedAgain();
    for (kill = 1; kill <= kills; kill++) {
      const isLong = kill % LIVES_PER_RISE === 0;
      if (isLong) await riseAgain();
      const [least, most] = isLong ? LIVES_MS.afterRise : LIVES_MS.short;
      await sleep(least + next() * (most - least));
      lastKillAt = Date.now();
      for (const scraper of scrapers) scraper.rises = scraper.seen.rises;
      const { exitCode, signalCode } = child;
      if (exitCode !== null || signalCode !== null)
        throw new Error(`life ${kill} ended by itself: ${exitCode ?? signalCode}`);
      child.kill('SIGKILL');
      await ended;
      child = begin();
      await until(isUp, { timeoutMs: 60_000, what: `life ${kill} answers` });
      if (kill % 20 === 0) say(`${kill} kills, ${lines} lines`);
    }
    // The writer stops; what is left is read, and the windows close by the wall clock.
    isOver = true;
    await Promise.all([writing, ...scraping]);
    isOver = false;
    const ending = scrapers.map((scraper) => scrape(scraper.everyMs, scraper, scraper.seen));
    const isWhole = (): boolean =>
      scrapers.every(({ seen }) => FAMILIES.every((name) => (seen.sums[name] as number) >= lines));
    // A machine with other work falls behind by minutes; what is lost stays lost.
    await until(isWhole, { timeoutMs: 600_000, everyMs: 100 }).catch(() => {});
    // Longer, so that what is counted twice has the time to show.
    await sleep(1500);
    isOver = true;
    await Promise.all(ending);
    await storing?.scrapedAgain();
    stored = await storing?.account(lines, lastKillAt);
  } finally {
    isOver = true;
    killLast();
    process.off('exit', killLast);
    await Promise.allSettled([ended, ...busy]);
    await storing?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  return {
    ...{ lines, kills, rotations },
    scrapers: scrapers.map(({ everyMs, answers, refusals, rises, seen }) => ({
      ...{ everyMs, answers, refusals, rises, resets: seen.resets, lateDebuts: seen.lateDebuts },
      errors: seen.errors(lines),
    })),
    stored,
  };
}
