/**
 * The third account of a crash run: a real Prometheus that scrapes each second, and the samples that it stored, as they stand (a range
 * selector returns them all, with the times of their scrapes; markers of staleness are none). It checks nothing.
 */
import { join } from 'node:path';
import { PROMETHEUS, prometheusVersion, type Series, startPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { FAMILIES, Increase } from './increase.ts';

export interface StoredAccount {
  readonly version: string;
  readonly answers: number;
  /** Nobody listened, or no answer in time: Prometheus' own `up` was 0. */
  readonly failures: number;
  /** Between two answers. */
  readonly longestGapSeconds: number;
  readonly series: number;
  readonly samples: number;
  readonly lateDebuts: number;
  /** Before the last kill. */
  readonly rises: number;
  readonly resets: number;
  readonly errors: Readonly<Record<string, number>>;
}

export interface Storing {
  /** A scrape that began after this call was answered and is stored. */
  scrapedAgain(): Promise<void>;
  account(written: number, lastKillAtMs: number): Promise<StoredAccount>;
  stop(): Promise<void>;
}

const seconds = (): number => Date.now() / 1000;

export async function startStoring(folder: string, target: string, binary = PROMETHEUS): Promise<Storing> {
  const startedAt = seconds();
  const prometheus = await startPrometheus({ binary, data: join(folder, 'prometheus'), live: target });
  const stored = (selector: string, since: number): Promise<readonly Series[]> => {
    const at = seconds();
    return prometheus.instant(`${selector}[${Math.ceil(at - since) + 1}s]`, at);
  };
  return {
    async scrapedAgain() {
      const since = seconds();
      const isStored = async (): Promise<boolean> =>
        (await stored('up', since))[0]?.values.some(([at, up]) => at > since && up === 1) === true;
      await until(isStored, { timeoutMs: 60_000, everyMs: 100, what: () => `one more scrape\n${prometheus.said()}` });
    },
    async account(written, lastKillAtMs) {
      const seen = new Increase();
      const ups: (readonly [number, number])[] = [];
      let samples = 0;
      let rises = 0;
      for (const { metric, values } of await stored(`{__name__=~"up|${FAMILIES.join('|')}"}`, startedAt)) {
        const { __name__: name = '', ...labels } = metric;
        if (name === 'up') ups.push(...values);
        else samples += values.length;
        for (const [at, value] of values) {
          const before = seen.rises;
          seen.take(name, labels, value);
          if (at * 1000 < lastKillAtMs) rises += seen.rises - before;
        }
      }
      const answered = ups.filter(([, up]) => up === 1).map(([at]) => at);
      return {
        version: prometheusVersion(binary) ?? binary,
        ...{ answers: answered.length, failures: ups.length - answered.length },
        longestGapSeconds: Math.max(0, ...answered.slice(1).map((at, i) => at - (answered[i] as number))),
        ...{ series: seen.series, samples, rises, lateDebuts: seen.lateDebuts, resets: seen.resets },
        errors: seen.errors(written),
      };
    },
    stop: prometheus.stop,
  };
}
