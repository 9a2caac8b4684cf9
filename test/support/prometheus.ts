/**
 * A real Prometheus, the one of PATH or of TAILFIN_PROMETHEUS: whether it is there, starts, answers, ends. What it is asked is said
 * elsewhere.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from './cli.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export const PROMETHEUS = process.env.TAILFIN_PROMETHEUS || 'prometheus';

/**
 * undefined: it is not there. A build of one's own does not know its version: it has the name of its file.
 * @throws Error where TAILFIN_PROMETHEUS names it: whoever asks for one wants no check skipped.
 */
export function prometheusVersion(binary = PROMETHEUS): string | undefined {
  const { error, stdout, stderr } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  if (error !== undefined && binary === process.env.TAILFIN_PROMETHEUS)
    throw new Error(`TAILFIN_PROMETHEUS=${binary}: ${(error as NodeJS.ErrnoException).code ?? error.message}`);
  if (error !== undefined) return undefined;
  return /version (\S+)/.exec(stdout + stderr)?.[1]?.replace(/[,+].*/, '') ?? binary;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** [seconds, value] */
  readonly values: readonly (readonly [number, number])[];
}
export interface Prometheus {
  readonly url: string;
  instant(expr: string, at: number): Promise<readonly Series[]>;
  range(expr: string, from: number, to: number, step: number): Promise<readonly Series[]>;
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
  /** The end of its log: warnings and errors. */
  said(): string;
  stop(): Promise<void>;
}

interface RawSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}
type Answer<T> =
  | { readonly status: 'success'; readonly data: T }
  | { readonly status: 'error'; readonly error: string };

export interface StartOptions {
  readonly binary?: string;
  /** Of the blocks. */
  readonly data: string;
  /** Address that is scraped each second while it runs. */
  readonly live?: string;
  /** In the place of the configuration that scrapes `live`. */
  readonly config?: object;
  readonly args?: readonly string[];
}

export async function startPrometheus({
  binary = PROMETHEUS,
  data,
  live,
  config = scraping(live),
  args = [],
}: StartOptions): Promise<Prometheus> {
  const port = await freePort();
  const file = join(data, 'prometheus.yml');
  mkdirSync(data, { recursive: true });
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  const child: ChildProcess = spawn(
    binary,
    [
      ...[`--config.file=${file}`, `--storage.tsdb.path=${data}`, '--storage.tsdb.retention.time=50y'],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--enable-feature=exemplar-storage', '--log.level=warn'],
      ...args,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  let ended = false;
  child.stderr?.on('data', (chunk) => {
    said = (said + chunk).slice(-20_000);
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const exit = new Promise<void>((resolve) => {
    const end = (): void => {
      ended = true;
      process.removeListener('exit', kill);
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  const url = `http://127.0.0.1:${port}`;
  const get = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(query) }).then(
      (r) => (r.status === 405 ? fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`) : r),
    );
    const answer = (await response.json()) as Answer<T>;
    if (answer.status === 'error') throw new Error(answer.error);
    return answer.data;
  };
  const seriesOf = ({ result }: { readonly result: readonly RawSeries[] }): readonly Series[] =>
    result.map(({ metric, value, values }) => ({
      metric,
      values: (values ?? (value === undefined ? [] : [value])).map(
        ([at, text]) => [at, Number(text.replace('Inf', 'Infinity'))] as const,
      ),
    }));
  const stop = async (): Promise<void> => {
    if (!ended) child.kill('SIGTERM');
    await exit;
  };
  const isReady = async (): Promise<boolean> => {
    if (ended) throw new Error(`${binary} ended:\n${said}`);
    return fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  try {
    await until(isReady, { timeoutMs: 120_000, everyMs: 50, what: () => `${binary} is ready\n${said}` });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    get,
    instant: async (query, at) => seriesOf(await get('query', { query, time: String(at) })),
    range: async (query, from, to, step) =>
      seriesOf(await get('query_range', { query, start: String(from), end: String(to), step: String(step) })),
    said: () => said,
    stop,
  };
}

const scraping = (live: string | undefined): object => ({
  global: { scrape_interval: '1s' },
  storage: { exemplars: { max_exemplars: 100_000 } },
  scrape_configs: live === undefined ? [] : [{ job_name: 'live', static_configs: [{ targets: [live] }] }],
});

/** For one test: in a folder of its own, and ended before that is removed. */
export async function prometheusFor(t: TestContext, options: Omit<StartOptions, 'data'>): Promise<Prometheus> {
  let prometheus: Prometheus | undefined;
  t.after(() => prometheus?.stop());
  prometheus = await startPrometheus({ ...options, data: tempFolder(t) });
  return prometheus;
}
