/** A real Prometheus over a folder of blocks: starts, answers, ends. What it is asked is said elsewhere. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { until } from '../../test/support/until.ts';

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
  /** Address that is scraped while it runs, for metadata and exemplars. */
  readonly live?: string;
}

export async function startPrometheus({ binary = 'prometheus', data, live }: StartOptions): Promise<Prometheus> {
  const port = await freePort();
  const config = join(data, 'prometheus.yml');
  const job = { job_name: 'live', static_configs: [{ targets: [live] }] };
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s' },
      storage: { exemplars: { max_exemplars: 100_000 } },
      scrape_configs: live === undefined ? [] : [job],
    }),
  );
  const child: ChildProcess = spawn(
    binary,
    [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${data}`, '--storage.tsdb.retention.time=50y'],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--enable-feature=exemplar-storage', '--log.level=warn'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  let ended = false;
  child.stderr?.on('data', (chunk) => {
    said = (said + chunk).slice(-4000);
  });
  const exit = new Promise<void>((resolve) => {
    child.once('exit', () => {
      ended = true;
      resolve();
    });
    child.once('error', () => {
      ended = true;
      resolve();
    });
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
    stop,
  };
}
