/** A real Prometheus scrapes a running sidecar: it asks for OpenMetrics, stores the numbers, and finds the trace of a failure. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Sidecar, startSidecar, tempFolder } from './support/cli.ts';
import { EXAMPLES, readYaml } from './support/deploy.ts';
import { freePort } from './support/free-port.ts';
import { readOpenMetrics } from './support/openmetrics.ts';
import { prometheusFor, prometheusVersion } from './support/prometheus.ts';
import { until } from './support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

/** An hour ago: all windows are closed at once, by the idle clock of the source. */
const begin = Date.now() - 3_600_000;
const EVENTS = [
  { exchange: 'a', ts: begin, terminal: true, terminal_kind: 'result' },
  { exchange: 'b', ts: begin + 5000, terminal: false, cut: 'mid', trace: `00-${TRACE}-${SPAN}-01` },
].map((line) =>
  JSON.stringify({
    ...{ v: 1, type: 'close', server: 'shop', protocol_version: '2026-07-28', method: 'tools/call', how: 'eof' },
    ...{ status: 200, content_type: 'text/event-stream', sent: 'body', open_ts: line.ts - 1500 },
    ...line,
  }),
);

async function sidecarWithEvents(t: TestContext): Promise<Sidecar> {
  const file = join(tempFolder(t), 'events.ndjson');
  writeFileSync(file, `${EVENTS.join('\n')}\n`);
  const sidecar = await startSidecar(t, file);
  const read = async () => (await sidecar.scrape()).sum('tailfin_findings_total') >= 1;
  await until(read, { timeoutMs: 60_000, what: 'the events are read' });
  return sidecar;
}

test('the Accept header chooses the format, and the answer names it', async (t) => {
  const { url } = await sidecarWithEvents(t);
  const get = async (accept: string) => {
    const response = await fetch(`${url}/metrics`, { headers: { accept } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('vary'), 'Accept');
    return { type: response.headers.get('content-type'), body: await response.text() };
  };
  const openMetrics = await get(`${OPEN_METRICS},text/plain;version=0.0.4;q=0.5,*/*;q=0.1`);
  assert.equal(openMetrics.type, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  const { samples } = readOpenMetrics(openMetrics.body);
  const shown = samples.filter(({ exemplar }) => exemplar !== undefined).map(({ name }) => name);
  assert.ok(shown.includes('tailfin_stream_closes_total'), shown.join());
  for (const accept of ['*/*', 'text/plain', `${OPEN_METRICS};q=0.1,text/plain`]) {
    const text = await get(accept);
    assert.equal(text.type, 'text/plain; version=0.0.4; charset=utf-8', accept);
    assert.doesNotMatch(text.body, /# EOF| # \{/);
  }
});

/**
 * The example configuration with the discovery of Kubernetes exchanged for what it would have found: the sidecar, another port of
 * its pod, and a pod that has ended. The relabelling is that of the example.
 */
function exampleFor(address: string, rules: string): Record<string, unknown> {
  interface Example {
    readonly global: Record<string, unknown>;
    readonly scrape_configs: Record<string, unknown>[];
    readonly [section: string]: unknown;
  }
  const example = readYaml<Example>(join(EXAMPLES, 'prometheus.yaml'));
  const [job = {}, ...others] = example.scrape_configs;
  assert.deepEqual(others, []);
  const { kubernetes_sd_configs, ...rest } = job;
  assert.deepEqual(kubernetes_sd_configs, [{ role: 'pod' }]);
  const found = (pod: string, port: string, phase: string) => ({
    targets: [address],
    labels: {
      __meta_kubernetes_namespace: 'shop',
      __meta_kubernetes_pod_name: pod,
      __meta_kubernetes_pod_node_name: 'node-1',
      __meta_kubernetes_pod_phase: phase,
      __meta_kubernetes_pod_container_port_name: port,
    },
  });
  const static_configs = [
    found('mcp-host', 'tailfin-metrics', 'Running'),
    found('mcp-host', 'http', 'Running'),
    found('ended', 'tailfin-metrics', 'Succeeded'),
  ];
  return {
    ...example,
    global: { ...example.global, scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ ...rest, static_configs }],
  };
}

interface Exemplars {
  readonly seriesLabels: Readonly<Record<string, string>>;
  readonly exemplars: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: string;
    readonly timestamp: number;
  }[];
}

test('Prometheus finds the exemplar', async (t) => {
  if (prometheusVersion() === undefined) return t.skip('skipped: needs prometheus');
  const { url } = await sidecarWithEvents(t);
  const folder = tempFolder(t);
  // A group is first evaluated at some moment of its interval, which the path of its file decides: up to two minutes.
  const rules = join(folder, 'rules.yaml');
  writeFileSync(rules, readFileSync(join(EXAMPLES, 'rules.yaml'), 'utf8').replaceAll(/^ +interval: .*\n/gm, ''));
  const prometheus = await prometheusFor(t, { config: exampleFor(new URL(url).host, rules) });
  const exemplarsOf = async (query: string): Promise<readonly Exemplars[]> =>
    prometheus.get<Exemplars[]>('query_exemplars', {
      query,
      start: String(begin / 1000 - 60),
      end: String(Date.now() / 1000),
    });
  const what = () => `an exemplar in Prometheus\n${prometheus.said()}`;
  const ambiguous = 'tailfin_stream_closes_total{outcome="ambiguous"}';
  await until(async () => (await exemplarsOf(ambiguous)).length > 0, { timeoutMs: 60_000, everyMs: 200, what });

  const [found, ...others] = await exemplarsOf(ambiguous);
  assert.deepEqual(others, []);
  assert.equal(found?.seriesLabels.server, 'shop');
  assert.equal(found?.seriesLabels.cut, 'mid');
  assert.deepEqual(found?.exemplars, [
    { labels: { trace_id: TRACE, span_id: SPAN }, value: '1', timestamp: (begin + 5000) / 1000 },
  ]);
  // The operation is counted when the idle clock has passed its windows; then its bucket shows the trace too.
  const buckets = 'mcp_client_operation_duration_seconds_bucket';
  await until(async () => (await exemplarsOf(buckets)).length > 0, { timeoutMs: 60_000, everyMs: 200, what });
  const [bucket] = await exemplarsOf(buckets);
  // Prometheus 3 writes whole bounds as 2.0, whatever the format.
  const bound = prometheusVersion()?.startsWith('2.') ? '2' : '2.0';
  assert.equal(bucket?.seriesLabels.le, bound, 'the label is that of the text format');
  assert.equal(bucket?.exemplars[0]?.labels.trace_id, TRACE);
  assert.equal(bucket?.exemplars[0]?.value, '1.5');

  interface Target {
    readonly health: string;
    readonly lastError: string;
    readonly labels: Readonly<Record<string, string>>;
  }
  const targets = await prometheus.get<{ activeTargets: readonly Target[] }>('targets');
  assert.deepEqual(
    targets.activeTargets.map(({ health, lastError }) => [health, lastError]),
    [['up', '']],
    'the sidecar, and nothing else',
  );
  assert.deepEqual(targets.activeTargets[0]?.labels, {
    ...{ job: 'tailfin', instance: new URL(url).host, namespace: 'shop', pod: 'mcp-host', node: 'node-1' },
  });
  interface RuleGroup {
    readonly rules: readonly { readonly name: string; readonly health: string }[];
  }
  const healthy = async () =>
    (await prometheus.get<{ groups: readonly RuleGroup[] }>('rules')).groups.flatMap(({ rules }) =>
      rules.map(({ health }) => health),
    );
  const evaluated = async () => (await healthy()).length > 0 && !(await healthy()).includes('unknown');
  await until(evaluated, { timeoutMs: 60_000, everyMs: 200, what: 'the rules are evaluated' });
  assert.deepEqual(new Set(await healthy()), new Set(['ok']));
  const [total] = await prometheus.instant('sum(tailfin_stream_closes_total{job="tailfin"})', Date.now() / 1000);
  assert.equal(total?.values[0]?.[1], 2, 'the numbers under the names of the text format');
  assert.doesNotMatch(prometheus.said(), /level=(?:warn|error).*(?:exemplar|scrape)/i);
});

test('increase() sees the first ambiguous close, and nothing twice, over kills of the sidecar', async (t) => {
  if (prometheusVersion() === undefined) return t.skip('skipped: needs prometheus');
  const folder = tempFolder(t);
  const file = join(folder, 'events.ndjson');
  writeFileSync(file, '');
  const target = `127.0.0.1:${await freePort()}`;
  const begin = () => {
    const state = ['--state-dir', join(folder, 'state'), '--scrape-interval-seconds', '1'];
    return startSidecar(t, file, { args: [...state, '--metrics-listen', target] });
  };
  let sidecar = await begin();
  const prometheus = await prometheusFor(t, { live: target });
  const value = async (query: string): Promise<number> =>
    (await prometheus.instant(query, Date.now() / 1000))[0]?.values[0]?.[1] ?? Number.NaN;
  const patient = { timeoutMs: 60_000, everyMs: 200, what: prometheus.said };
  await until(async () => (await value('up')) === 1, patient);
  const closes = 'tailfin_stream_closes_total{outcome="ambiguous",cut="mid"}';
  const raw = `sum(max_over_time(${closes}[10m]) - min_over_time(${closes}[10m]))`;
  const line = (exchange: string) => `${JSON.stringify({ ...JSON.parse(EVENTS[1] as string), exchange })}\n`;
  for (let n = 1; n <= 3; n++) {
    appendFileSync(file, line(`x${n}`));
    await until(async () => (await value(`sum(${closes})`)) === n, { ...patient, what: `${n} closes in Prometheus` });
    sidecar.child.kill('SIGKILL');
    await sidecar.ended;
    sidecar = await begin();
  }
  await until(async () => (await value('up')) === 1, patient);
  assert.equal(await value(raw), 3, 'it was there at 0 before its first event');
  assert.ok((await value(`sum(increase(${closes}[10m]))`)) >= 2.9);
  for (const counter of [closes, 'tailfin_events_total', 'tailfin_source_read_bytes_total'])
    assert.equal(await value(`sum(resets(${counter}[10m]))`), 0, counter);
});
