/**
 * A real Prometheus 3 takes the metrics by its own OTLP receiver and scrapes the same sidecar: the series it stores have the same names, the
 * same labels and the same values, for every metric of the catalog. Not a part of `npm test`: Debian has Prometheus 2 only. `.ci/run
 * --nightly` builds one; by hand: TAILFIN_PROMETHEUS=/path/to/prometheus node test/run.mjs test/otel/prometheus.check.ts
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { createMetricsApp } from '../../src/app/metrics-app.ts';
import { CATALOG } from '../../src/core/measures/catalog.ts';
import { start, tempFolder } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { drivenClock, moveAll, startRig } from './rig.ts';

const PROMETHEUS = process.env.TAILFIN_PROMETHEUS ?? '';
const PATIENT = { timeoutMs: 60_000, everyMs: 200 };

type Series = ReadonlyMap<string, number>;

test('the same series by push and by scrape', async (t) => {
  if (PROMETHEUS === '') return t.skip('skipped: needs TAILFIN_PROMETHEUS');
  const folder = tempFolder(t);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const rig = startRig(t, { url: `${url}/api/v1/otlp`, received: [] }, { clock: drivenClock(Date.now() - 3 * 60_000) });
  const app = createMetricsApp({ metrics: rig.exposition.scrape, statuses: () => [] });
  const server = app.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const scraped = { targets: [`127.0.0.1:${(server.address() as AddressInfo).port}`] };
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'scraped', static_configs: [scraped] }],
  };
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config));
  const prometheus = start(
    PROMETHEUS,
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-otlp-receiver',
    ],
    { timeoutMs: 300_000 },
  );
  t.after(() => {
    prometheus.child.kill('SIGKILL');
    return prometheus.ended;
  });
  const isUp = () =>
    fetch(`${url}/-/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(isUp, { ...PATIENT, what: () => `Prometheus is ready: ${prometheus.stderr().slice(-2000)}` });

  /** Without what tells the two ways apart; the labels of the scope are Prometheus' own. */
  const stored = async (job: string): Promise<Series> => {
    const query = encodeURIComponent(`{__name__=~"(tailfin|mcp)_.+",job="${job}"}`);
    const answer = (await (await fetch(`${url}/api/v1/query?query=${query}`)).json()) as {
      readonly data: {
        readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
      };
    };
    return new Map(
      answer.data.result.map(({ metric, value }) => {
        const own = Object.entries(metric).filter(([label]) => !/^(job|instance|otel_scope_.*)$/.test(label));
        // Prometheus writes a whole bound as 1 where it is pushed, and as 1.0 where it is scraped.
        const sameBounds = own.map(([label, text]) => [label, label === 'le' && text !== '+Inf' ? Number(text) : text]);
        return [JSON.stringify(sameBounds.sort()), Number(value[1])];
      }),
    );
  };
  const exports = async () => (await rig.scrape()).sum('tailfin_otlp_exports_total', { signal: 'metrics' });
  for (const amount of [1, 40_000, 0.5]) {
    moveAll(rig.cells, amount);
    const before = await exports();
    rig.clock.pass(60_000);
    await until(async () => (await exports()) > before, PATIENT);
  }
  assert.deepEqual(rig.said, []);
  // moveAll moves it too, by the same amounts.
  const last = (await rig.scrape()).samples.find(
    ({ name, labels }) =>
      name === 'tailfin_otlp_exports_total' && labels.signal === 'metrics' && labels.result === 'ok',
  )?.value;
  await until(async () => (await stored('tailfin')).size > 100, { ...PATIENT, what: 'what was pushed' });
  await until(
    async () => [...(await stored('scraped'))].some(([key, value]) => key.includes('otlp_exports') && value === last),
    {
      ...PATIENT,
      what: 'what was scraped',
    },
  );
  const [pushed, pulled] = [await stored('tailfin'), await stored('scraped')];
  assert.deepEqual([...pushed.keys()].sort(), [...pulled.keys()].sort());
  const names = new Set([...pushed.keys()].map((key) => /"__name__","(\w+?)(?:_bucket|_sum|_count)?"/.exec(key)?.[1]));
  for (const { name } of Object.values(CATALOG)) assert.ok(names.has(name), name);
  for (const [key, value] of pulled) {
    // Each push counts itself after it is out.
    if (!key.includes('tailfin_otlp_')) assert.equal(pushed.get(key), value, key);
  }
});
