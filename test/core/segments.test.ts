/** Writers of segment files: who ended without an end line, and whose earlier numbers are missing. A live writer is never counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Origin } from '../../src/core/model/event.ts';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { sampleSum, T0 } from '../support/build-event.ts';
import { SEED } from '../support/property.ts';

const MISSING = 'tailfin_events_missing_total';
const UNCLEAN = 'tailfin_writers_unclean_total';

function create() {
  const pipeline = createPipeline();
  const origin = (file: string): Origin => ({ source: 'files', writer: file, host: 'files' });
  const line = (file: string, type: string, at: number, fields: object) =>
    assert.notEqual(
      pipeline.line(JSON.stringify({ v: 1, type, ts: T0 + at, ...fields }), origin(file), 1, 0),
      undefined,
    );
  return {
    pipeline,
    segment: (writer: string, n: number, at = n * 1000, fields: object = {}) =>
      line(`${writer}-${n}`, 'segment', at, {
        ...{ writer, id: `${writer}-${n}`, n },
        ...(n > 0 && { prev: `${writer}-${n - 1}` }),
        ...fields,
      }),
    end: (writer: string, n: number, at = n * 1000 + 900) =>
      line(`${writer}-${n}`, 'end', at, { writer, id: `${writer}-${n}`, events: 1, dropped: 0 }),
    event: (writer: string, n: number, seq: number, at = n * 1000 + 100) =>
      line(`${writer}-${n}`, 'client', at, { writer, seq, client: 'c', event: 'created' }),
    silent: (writer: string, n: number) => pipeline.silent(origin(`${writer}-${n}`)),
    unclean: () => sampleSum(pipeline.cells.families(), UNCLEAN),
    missing: () => {
      pipeline.finish();
      return sampleSum(pipeline.cells.families(), MISSING);
    },
    entries() {
      pipeline.refresh();
      return sampleSum(pipeline.cells.families(), 'tailfin_state_entries', { store: 'segments' });
    },
  };
}

test('a segment without its end, silent for long, is an unclean writer, once', () => {
  const { segment, event, silent, unclean } = create();
  segment('w', 0);
  event('w', 0, 0);
  assert.equal(unclean(), 0);
  silent('w', 0);
  silent('w', 0);
  assert.equal(unclean(), 1);
});

test('with its end it is none, however silent', () => {
  const { segment, end, silent, unclean } = create();
  segment('w', 0);
  end('w', 0);
  silent('w', 0);
  assert.equal(unclean(), 0);
});

test('a segment that was given up for a newer one says nothing about the writer, which lives', () => {
  const { segment, silent, unclean } = create();
  segment('w', 0);
  segment('w', 1);
  silent('w', 0);
  assert.equal(unclean(), 0);
  silent('w', 1);
  assert.equal(unclean(), 1);
});

test('segments may be read out of order', () => {
  const { segment, end, event, silent, unclean, missing } = create();
  segment('w', 1);
  event('w', 1, 1);
  segment('w', 0);
  event('w', 0, 0);
  silent('w', 0);
  assert.equal(unclean(), 0, 'the older one, whose end was not read yet');
  end('w', 0);
  end('w', 1);
  silent('w', 1);
  assert.equal(unclean(), 0);
  assert.equal(missing(), 0);
});

test('a writer with a fixed name that begins anew ended without an end before', () => {
  const { segment, end, unclean } = create();
  segment('w', 0, 0, { id: 'a' });
  segment('w', 0, 5000, { id: 'b' });
  assert.equal(unclean(), 1);
  segment('w', 0, 4000, { id: 'a' });
  assert.equal(unclean(), 1, 'the former life, read again');
  segment('v', 0, 0);
  end('v', 0);
  segment('v', 0, 5000, { id: 'c' });
  assert.equal(unclean(), 1, 'that one had its end');
});

test('files that hold no segment are never unclean', () => {
  const { event, silent, unclean } = create();
  event('w', 0, 0);
  silent('w', 0);
  silent('nothing', 0);
  assert.equal(unclean(), 0);
});

test('a writer whose first segments are gone: their numbers are missing', () => {
  const { segment, event, missing } = create();
  segment('w', 3);
  event('w', 3, 40);
  event('w', 3, 41);
  assert.equal(missing(), 40);
});

test('but not where they come in time, or begin at 0 all the same', () => {
  const { segment, event, missing } = create();
  segment('w', 1);
  event('w', 1, 2);
  segment('w', 0);
  event('w', 0, 0);
  event('w', 0, 1);
  segment('v', 2);
  event('v', 2, 0);
  assert.equal(missing(), 0);
});

test('nor where the source began behind them (`from: end`): then the end of the segment before is read', () => {
  for (const order of ['end first', 'segment first', 'segment and event first'] as const) {
    const { segment, event, end, missing } = create();
    if (order === 'end first') end('w', 1);
    segment('w', 2);
    if (order === 'segment and event first') event('w', 2, 40);
    if (order !== 'end first') end('w', 1);
    event('w', 2, order === 'segment and event first' ? 41 : 40);
    assert.equal(missing(), 0, order);
  }
});

test('a writer of which a line was read before has no missing head', () => {
  const { segment, event, missing } = create();
  event('w', 1, 40);
  segment('w', 2);
  event('w', 2, 41);
  assert.equal(missing(), 0);
});

test('the store has a cap, a time and a counter', () => {
  const { segment, silent, entries, pipeline, unclean } = create();
  for (let i = 0; i < LIMITS.segments + 10; i++) segment(`w${i}`, 0, i);
  assert.equal(entries(), LIMITS.segments);
  assert.equal(sampleSum(pipeline.cells.families(), 'tailfin_state_evictions_total', { store: 'segments' }), 10);
  silent('w5', 0);
  assert.equal(unclean(), 0, 'given up: not counted');
  silent('w10', 0);
  assert.equal(unclean(), 1);
  pipeline.tick(T0 + LIMITS.segmentMemoryMs + 200);
  pipeline.tick(T0 + LIMITS.segmentMemoryMs + 200 + LIMITS.sweepMs);
  assert.ok(entries() < LIMITS.segments);
  pipeline.finish();
  assert.equal(entries(), 0);
});

test('whatever is read in whatever order: numbered = arrived + missing, and only the unended writers are unclean', () => {
  const writer = fc.record({
    sizes: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
    removed: fc.nat(4),
    killed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(writer, { minLength: 1, maxLength: 4 }), fc.infiniteStream(fc.nat()), (writers, random) => {
      const rig = create();
      let lost = 0;
      const files = writers.flatMap(({ sizes, removed, killed }, w) => {
        let seq = 0;
        return sizes.flatMap((size, n) => {
          const name = `w${w}`;
          const lines = [() => rig.segment(name, n)];
          for (let i = 0; i < size; i++, seq++) {
            const at = seq;
            lines.push(() => rig.event(name, n, at));
          }
          const isLast = n === sizes.length - 1;
          if (!isLast || !killed) lines.push(() => rig.end(name, n));
          if (n >= Math.min(removed, sizes.length - 1)) return [lines];
          lost += size;
          return [];
        });
      });
      // A number that nothing came after cannot be missed.
      writers.forEach(({ sizes, removed }) => {
        const from = Math.min(removed, sizes.length - 1);
        if (sizes.slice(from).every((size) => size === 0)) lost -= sizes.slice(0, from).reduce((a, b) => a + b, 0);
      });
      while (files.length > 0) {
        const i = (random.next().value as number) % files.length;
        files[i]!.shift()!();
        if (files[i]!.length === 0) files.splice(i, 1);
      }
      writers.forEach(({ sizes }, w) => {
        for (let n = 0; n < sizes.length; n++) rig.silent(`w${w}`, n);
      });
      assert.equal(rig.unclean(), writers.filter(({ killed }) => killed).length);
      assert.equal(rig.missing(), lost);
    }),
    { seed: SEED, numRuns: 500 },
  );
});
