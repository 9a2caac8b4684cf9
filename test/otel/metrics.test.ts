/**
 * Metrics by OTLP against `/metrics` of the same moment: every metric of the catalog, totals and differences, protobuf and JSON, read by an
 * independent implementation; start times, the resource, and what a restart goes on from.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CATALOG } from '../../src/core/measures/catalog.ts';
import { createCells } from '../../src/core/measures/cells.ts';
import { createDeltas, takeNumbers } from '../../src/exporters/otel-numbers.ts';
import { T0 } from '../support/build-event.ts';
import { type Point, startReceiver } from '../support/otlp-receiver.ts';
import { MINUTE, moveAll, SINCE, scrapedSeries, seriesOf, startRig } from './rig.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

for (const otelProtocol of PROTOCOLS)
  describe(otelProtocol, () => {
    test('cumulative: the series of /metrics, to the last one, each time', async (t) => {
      const receiver = await startReceiver(t);
      const rig = startRig(t, receiver, { flags: { otelProtocol } });
      for (const amount of [1, 40_000, 0.5]) {
        moveAll(rig.cells, amount);
        const scraped = scrapedSeries(await rig.scrape());
        await rig.turn();
        const { points } = receiver.received.at(-1)!;
        assert.deepEqual(new Map([...seriesOf(points)].sort()), new Map([...scraped].sort()));
        for (const { kind, temporality, startMs, atMs, isMonotonic, metric } of points) {
          assert.equal(atMs, rig.clock.now(), metric);
          assert.equal(temporality, kind === 'gauge' ? 0 : 2, metric);
          assert.equal(isMonotonic, kind === 'sum', metric);
          if (kind !== 'gauge') assert.equal(startMs, metric.startsWith('tailfin.checkpoint') ? T0 : SINCE, metric);
        }
      }
      const families = new Set(receiver.received.at(-1)!.points.map(({ metric }) => metric));
      assert.equal(families.size, Object.keys(CATALOG).length, 'every metric of the catalog');
    });

    test('delta: the sum of all differences is /metrics, and a period begins where the last one ended', async (t) => {
      const receiver = await startReceiver(t);
      const rig = startRig(t, receiver, { flags: { otelProtocol, otelTemporality: 'delta' } });
      const sums = new Map<string, number>();
      let endedAt = SINCE;
      for (const amount of [1, 40_000, 0.5]) {
        moveAll(rig.cells, amount);
        const scraped = scrapedSeries(await rig.scrape());
        await rig.turn();
        const { points } = receiver.received.at(-1)!;
        const gauges = new Set([...seriesOf(points.filter(({ kind }) => kind === 'gauge')).keys()]);
        for (const [key, value] of seriesOf(points))
          sums.set(key, gauges.has(key) ? value : (sums.get(key) ?? 0) + value);
        assert.deepEqual([...sums.keys()].sort(), [...scraped.keys()].sort());
        for (const [key, value] of scraped) assert.ok(Math.abs((sums.get(key) ?? 0) - value) < 1e-6, `${key} ${value}`);
        for (const { kind, temporality, startMs, atMs, metric } of points) {
          if (kind === 'gauge') continue;
          assert.equal(temporality, 1, metric);
          assert.deepEqual([startMs, atMs], [endedAt, rig.clock.now()], metric);
        }
        endedAt = rig.clock.now();
      }
    });
  });

test('delta: what a backend did not take is in the next difference, once', async (t) => {
  const receiver = await startReceiver(t);
  const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '100' };
  for (const [name, value] of Object.entries(env)) process.env[name] = value;
  t.after(() => delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT);
  const rig = startRig(t, receiver, { env, flags: { otelTemporality: 'delta' } });
  const closes = (points: readonly Point[]) =>
    points.filter(({ metric }) => metric === 'tailfin.events').reduce((sum, { value }) => sum + value, 0);
  const add = (count: number) => rig.cells.add('events', count, ['files', 'close']);
  add(5);
  await rig.turn();
  assert.equal(closes(receiver.received.at(-1)!.points), 5);
  receiver.respond = (response) => Boolean(response.writeHead(503).end());
  add(7);
  await rig.turn();
  add(1);
  await rig.turn();
  receiver.respond = () => false;
  add(2);
  await rig.turn();
  const last = receiver.received.at(-1)!.points.filter(({ metric }) => metric === 'tailfin.events');
  assert.equal(closes(last), 10);
  assert.deepEqual([last[0]!.startMs, last[0]!.atMs], [T0 + MINUTE, T0 + 4 * MINUTE]);
});

describe('a restart', () => {
  test('delta: goes on from what the backend had acknowledged', async (t) => {
    const receiver = await startReceiver(t);
    const flags = { otelTemporality: 'delta' };
    const first = startRig(t, receiver, { flags });
    moveAll(first.cells, 3);
    await first.turn();
    first.cells.add('events', 4, ['files', 'close']);
    const saved = structuredClone([...first.otel.save()]);
    const parts = structuredClone([...first.cells.part.save()]);
    await first.otel.close();

    const cells = createCells();
    cells.part.load(parts);
    const second = startRig(t, receiver, { flags, cells, clock: first.clock, otel: { saved, isRestored: true } });
    second.cells.add('events', 1, ['files', 'close']);
    await second.turn();
    const points = receiver.received.at(-1)!.points.filter(({ kind }) => kind !== 'gauge');
    const moved = points.filter(({ value, counts }) => value !== 0 || counts.some((count) => count !== 0));
    assert.deepEqual(
      moved.map(({ metric, value, startMs }) => [metric, value, startMs]),
      // The counter of exports has told of itself only once.
      [
        ['tailfin.events', 5, T0 + MINUTE],
        ['tailfin.otlp.exports', 1, T0 + MINUTE],
      ],
    );
  });

  test('delta: what is acknowledged while the record is written is in the next one, with its time', () => {
    const cells = createCells();
    const deltas = createDeltas(1000);
    const numbers = (): ReturnType<typeof takeNumbers> => takeNumbers(cells.families());
    cells.add('events', 4, ['files', 'close']);
    deltas.acknowledge(numbers(), 2000);
    const record = deltas.part.save()[Symbol.iterator]();
    const saved = [record.next().value];
    cells.add('events', 3, ['files', 'close']);
    deltas.acknowledge(numbers(), 3000);
    for (let next = record.next(); next.done !== true; next = record.next()) saved.push(next.value);
    const after = createDeltas(0);
    after.part.load(saved);
    const events = after.since(numbers()).find(({ key }) => key === 'events');
    assert.deepEqual([after.sinceMs, events?.points[0]?.value], [2000, 3]);
  });

  test('delta without anything saved: a life that was not exported is not sent afterwards', async (t) => {
    const receiver = await startReceiver(t);
    const cells = createCells();
    cells.add('events', 100, ['files', 'close']);
    const rig = startRig(t, receiver, { flags: { otelTemporality: 'delta' }, cells, otel: { isRestored: true } });
    cells.add('events', 2, ['files', 'close']);
    await rig.turn();
    const [point] = receiver.received.at(-1)!.points.filter(({ metric }) => metric === 'tailfin.events');
    assert.deepEqual([point!.value, point!.startMs], [2, T0]);
  });
});

test('the resource: defaults, downward API, and the operator last', async (t) => {
  const receiver = await startReceiver(t);
  const env = { POD_NAME: 'agent-0', POD_NAMESPACE: 'shop', POD_UID: 'u-1', NODE_NAME: 'node-a' };
  const first = startRig(t, receiver, { env });
  await first.turn();
  const { resource } = receiver.received.at(-1)!;
  const expected = {
    'service.name': 'tailfin',
    'service.instance.id': 'shop.agent-0.tailfin',
    'k8s.namespace.name': 'shop',
    'k8s.pod.name': 'agent-0',
    'k8s.pod.uid': 'u-1',
    'k8s.node.name': 'node-a',
    'telemetry.sdk.language': 'nodejs',
  };
  for (const [key, value] of Object.entries(expected)) assert.equal(resource[key], value, key);
  assert.ok(typeof resource['host.name'] === 'string' && resource['service.version'] !== undefined);
  for (const key of Object.keys(resource)) assert.doesNotMatch(key, /command|owner|env/);
  await first.otel.close();

  process.env.OTEL_RESOURCE_ATTRIBUTES = 'service.namespace=prod,k8s.pod.name=mine,team=a%20b';
  process.env.OTEL_SERVICE_NAME = 'my-sidecar';
  t.after(() => {
    delete process.env.OTEL_RESOURCE_ATTRIBUTES;
    delete process.env.OTEL_SERVICE_NAME;
  });
  const second = startRig(t, receiver, { env });
  await second.turn();
  const own = receiver.received.at(-1)!.resource;
  assert.deepEqual(
    ['service.name', 'service.namespace', 'k8s.pod.name', 'k8s.pod.uid', 'team'].map((key) => own[key]),
    ['my-sidecar', 'prod', 'mine', 'u-1', 'a b'],
  );
});
