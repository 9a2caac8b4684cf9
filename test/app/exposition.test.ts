/** What scrapes and pushes are shown while the disk is slow: never something older than what was shown already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Checkpoint } from '../../src/app/checkpoint/checkpoint.ts';
import { createExposition } from '../../src/app/exposition.ts';
import { createCells } from '../../src/core/measures/cells.ts';
import { createPrometheusExporter } from '../../src/exporters/prometheus.ts';

const checkpointOf = (parts: Partial<Checkpoint>): Checkpoint => ({
  async commit(moment) {
    await moment?.();
    return true;
  },
  commitSoon: async () => true,
  exposeUncommitted: async () => true,
  caughtUp() {},
  start() {},
  stop: async () => {},
  age: () => undefined,
  ...parts,
});

test('the sources wait for an answer that others share, not for those that each scrape has to itself', async () => {
  const asked: (boolean | undefined)[] = [];
  for (const checkpoint of [checkpointOf({}), undefined]) {
    const cells = createCells();
    let isHeld: boolean | undefined;
    const hold = () => {
      isHeld = true;
      return () => {
        isHeld = false;
      };
    };
    const exposition = createExposition({
      ...{ cells, exporter: createPrometheusExporter(cells, { process: false }), refresh: () => {}, hold, checkpoint },
      ...{ statuses: () => [], start: 'restored', holdMs: 0, now: () => 0, elapsed: () => 0 },
    });
    await exposition.scrape('text');
    asked.push(isHeld);
  }
  assert.deepEqual(asked, [false, undefined]);
});

test('a snapshot whose record failed is not shown after a newer one that is durable', async () => {
  const cells = createCells();
  let now = 0;
  let isDurable = false;
  const marks: ((isExposed: boolean) => void)[] = [];
  const checkpoint = checkpointOf({
    async commit(moment) {
      await moment?.();
      return isDurable;
    },
    exposeUncommitted: () => new Promise((resolve) => marks.push(resolve)),
  });
  const exposition = createExposition({
    ...{ cells, exporter: createPrometheusExporter(cells, { process: false }), refresh: () => {}, statuses: () => [] },
    ...{ checkpoint, start: 'restored', holdMs: 0, withNumbers: true, now: () => now, elapsed: () => now },
  });
  const count = () => cells.add('events', 1, ['files', 'close']);
  const countOf = (collected: Awaited<ReturnType<typeof exposition.collect>>) =>
    collected?.numbers.find(({ key }) => key === 'events')?.points[0]?.value;

  count();
  const first = exposition.collect();
  while (marks.length === 0) await new Promise((resolve) => setImmediate(resolve));
  count();
  now += 100;
  isDurable = true;
  assert.equal(countOf(await exposition.collect()), 2);
  marks[0]?.(true);
  assert.equal(countOf(await first), 2);
  assert.equal(countOf(await exposition.collect()), 2);
});
