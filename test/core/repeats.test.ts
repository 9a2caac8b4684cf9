/** Lines that come twice: exactly once by (writer, seq, ts), through restarts and reorderings, within bounds that are counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Origin } from '../../src/core/model/event.ts';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createRepeats, NO_TIME } from '../../src/core/stages/repeats.ts';
import { createStoreHealth } from '../../src/core/store.ts';
import { close, gap, ORIGIN, open, sampleSum, T0 } from '../support/build-event.ts';
import { SEED } from '../support/property.ts';

function create() {
  const health = createStoreHealth();
  const repeats = createRepeats(health);
  const held = () => health.sizes.get('recent_lines')?.() as number;
  return { ...repeats, held, evicted: () => health.evictions.get('recent_lines') ?? 0 };
}

const HTTP: Origin = { source: 'http', writer: 'http', host: 'http', mayRepeat: true };

/** Lines (objects or text) through a pipeline of their own, as the HTTP source delivers them. */
function deliver(lines: readonly (object | string)[], origin = HTTP) {
  const pipeline = createPipeline();
  const answers = lines.map((line, i) =>
    pipeline.line(typeof line === 'string' ? line : JSON.stringify(line), origin, i + 1, 0),
  );
  pipeline.finish();
  pipeline.refresh();
  const sum = (name: string, labels = {}) => sampleSum(pipeline.cells.families(), name, labels);
  return {
    sum,
    refused: answers.map((answer) => (typeof answer === 'number' ? '' : answer.rejected)),
    duplicates: sum('tailfin_events_rejected_total', { reason: 'duplicate' }),
  };
}

test('repeats: the same line is told, another writer, number or time is not', () => {
  const { isRepeat, held } = create();
  assert.equal(isRepeat('w', 0, 100), false);
  assert.equal(isRepeat('w', 0, 100), true);
  assert.equal(isRepeat('v', 0, 100), false);
  assert.equal(isRepeat('w', 1, 100), false);
  assert.equal(isRepeat('w', 0, 100.5), false, 'a new life of the writer');
  assert.equal(isRepeat('w', 0, 100), true, 'the former one is not forgotten by that');
  assert.equal(isRepeat('w', Number.MAX_SAFE_INTEGER, NO_TIME), false);
  assert.equal(isRepeat('w', Number.MAX_SAFE_INTEGER, NO_TIME), true);
  assert.equal(held(), 5);
});

/**
 * A writer with up to four lives, each newer than the one before. What it wrote is cut into batches; batches are sent any number
 * of times, in any order, those of several lives mixed.
 */
const traffic = fc
  .array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 4 })
  .chain((lives) => {
    let ts = 1000;
    const lines = lives.flatMap((gaps, life) => {
      ts++;
      return gaps.map((gapMs, seq) => {
        ts += gapMs;
        return { id: `${life}/${seq}`, seq, ts };
      });
    });
    return fc
      .array(fc.tuple(fc.nat(lines.length), fc.nat(lines.length)), { maxLength: 30 })
      .map((cuts) => ({ lines, sent: cuts.map(([a, b]) => lines.slice(Math.min(a, b), Math.max(a, b) + 1)) }));
  });

test('repeats: exactly once, whatever is repeated, reordered and restarted (property)', () => {
  fc.assert(
    fc.property(traffic, ({ lines, sent }) => {
      const { isRepeat } = create();
      const taken: string[] = [];
      for (const batch of [...sent, lines, lines])
        for (const { id, seq, ts } of batch) if (!isRepeat('w', seq, ts)) taken.push(id);
      assert.deepEqual(taken.sort(), lines.map(({ id }) => id).sort());
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test('repeats: through the pipeline the counters are those of each line once (property)', () => {
  fc.assert(
    fc.property(traffic, ({ lines, sent }) => {
      const line = ({ id, seq, ts }: { id: string; seq: number; ts: number }) =>
        close(id, ts, { writer: 'w', seq, args_digest: id });
      const { sum, duplicates } = deliver([...sent.flat(), ...lines].map(line));
      assert.equal(sum('tailfin_stream_closes_total'), lines.length);
      assert.equal(sum('tailfin_events_total'), lines.length);
      assert.equal(duplicates, sent.flat().length);
      assert.equal(sum('tailfin_events_late_total'), 0);
    }),
    { seed: SEED, numRuns: 100 },
  );
});

test('repeats: seq 0 sent again is no new life, seq 0 of a new life is no repeat', () => {
  const first = open('a', 0, { writer: 'w', seq: 0 });
  const afresh = open('b', 50, { writer: 'w', seq: 0, args_digest: 'b' });
  const again = deliver([first, gap(10, 0, { writer: 'w', seq: 1 }), first]);
  assert.equal(again.sum('tailfin_exchanges_expired_total', { reason: 'writer_gone' }), 0);
  const restarted = deliver([first, gap(10, 0, { writer: 'w', seq: 1 }), afresh, first, afresh]);
  assert.equal(restarted.sum('tailfin_exchanges_expired_total', { reason: 'writer_gone' }), 1);
  assert.deepEqual(restarted.refused, ['', '', '', 'duplicate', 'duplicate']);
});

test('repeats: only with a writer and a seq of its own, and only where a source may repeat itself', () => {
  const both = { writer: 'w', seq: 1 };
  for (const [fields, origin, duplicates] of [
    [both, HTTP, 1],
    [{ seq: 1 }, HTTP, 0],
    [{ writer: 'w' }, HTTP, 0],
    [{ writer: null, seq: 1 }, HTTP, 0],
    [{ writer: '', seq: 1 }, HTTP, 0],
    [{ writer: 'w', seq: null }, HTTP, 0],
    [both, ORIGIN, 0],
  ] as const) {
    const { sum, ...found } = deliver([gap(0, 0, fields), gap(0, 0, fields)], origin);
    assert.equal(found.duplicates, duplicates, JSON.stringify([fields, origin.source]));
    assert.equal(sum('tailfin_events_total', { type: 'gap' }), 2 - duplicates);
  }
});

test('repeats: writers of the same name on two hosts are two', () => {
  const line = (host: string) => gap(0, 0, { writer: 'w', seq: 1, host });
  assert.deepEqual(deliver([line('a'), line('b'), line('a')]).refused, ['', '', 'duplicate']);
});

test('repeats: a broken line that says who wrote it is refused once for what it is', () => {
  const broken = '{"v":1,"type":"gap","ts":"yesterday","writer":"w","seq":7,"dropped":0}';
  const { refused, sum } = deliver([broken, broken, '{', '{']);
  assert.deepEqual(refused, ['bad_field', 'duplicate', 'not_json', 'not_json']);
  assert.equal(sum('tailfin_events_missing_total'), 0);
});

test('repeats: a line from the future is refused once, and not missing', () => {
  const pipeline = createPipeline({ wallClock: () => T0 + 1000 - LIMITS.maxFutureMs });
  const give = (seq: number, at: number) => {
    const line = gap(at, 0, { writer: 'w', seq });
    const given = pipeline.line(JSON.stringify(line), HTTP, 1, 0);
    return typeof given === 'number' ? '' : given.rejected;
  };
  assert.deepEqual([give(0, 0), give(1, 2000), give(1, 2000), give(2, 10)], ['', 'future_ts', 'duplicate', '']);
  pipeline.finish();
  assert.equal(sampleSum(pipeline.cells.families(), 'tailfin_events_missing_total'), 0);
});

test('repeats: a clock that is put right is believed from the next tick on', () => {
  let now = T0 + 10 * LIMITS.maxFutureMs;
  const pipeline = createPipeline({ wallClock: () => now });
  const give = (seq: number, at: number) => {
    const given = pipeline.line(JSON.stringify(gap(at, 0, { writer: 'w', seq })), HTTP, 1, 0);
    return typeof given === 'number' ? '' : given.rejected;
  };
  assert.equal(give(0, 9 * LIMITS.maxFutureMs), '');
  now = T0;
  pipeline.tick(T0);
  assert.equal(give(1, 2 * LIMITS.maxFutureMs), 'future_ts');
  assert.equal(give(2, LIMITS.maxFutureMs), '');
});

test('repeats: a writer remembers as many lines as the limit says at least, and twice as many at most', () => {
  const { isRepeat, held, evicted } = create();
  const total = 5 * LIMITS.recentLines;
  for (let seq = 0; seq < total; seq++) assert.ok(!isRepeat('w', seq, seq));
  for (let seq = total - LIMITS.recentLines; seq < total; seq++) assert.ok(isRepeat('w', seq, seq), `${seq}`);
  assert.ok(held() <= 2 * LIMITS.recentLines, `${held()}`);
  assert.equal(isRepeat('w', 0, 0), false, 'long forgotten: it counts as new');
  assert.equal(evicted(), 0, 'what grows old is no eviction');
});

test('repeats: more writers than there is room for: whoever was not heard longest is forgotten, and counted', () => {
  const { isRepeat, held, evicted } = create();
  isRepeat('kept', 1, 1);
  isRepeat('idle', 1, 1);
  for (let i = 0; i < 2 * LIMITS.writers; i++) {
    isRepeat(`w${i}`, 1, 1);
    if (i % 1000 === 0) assert.ok(isRepeat('kept', 1, 1));
  }
  assert.ok(held() <= LIMITS.writers);
  assert.equal(evicted(), 2 * LIMITS.writers + 2 - held());
  assert.equal(isRepeat('idle', 1, 1), false);
});

test('repeats: the room for all writers together is bounded', () => {
  const { isRepeat, held, evicted } = create();
  const writers = 12;
  for (let w = 0; w < writers; w++) for (let seq = 0; seq < 2 * LIMITS.recentLines; seq++) isRepeat(`w${w}`, seq, seq);
  assert.ok(held() <= LIMITS.recentSlots, `${held()}`);
  assert.ok(evicted() > 0);
  const last = 2 * LIMITS.recentLines - 1;
  assert.ok(isRepeat(`w${writers - 1}`, last, last), 'the writer at work keeps its own');
});

test('repeats: a writer that says nothing for a day is forgotten', () => {
  const { isRepeat, tick, held } = create();
  isRepeat('w', 1, 1);
  tick(0);
  tick(LIMITS.memoryMs);
  assert.equal(held(), 1);
  tick(LIMITS.memoryMs + LIMITS.sweepMs + 1);
  assert.equal(held(), 0);
  assert.equal(isRepeat('w', 1, 1), false);
});
