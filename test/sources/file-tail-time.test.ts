/** The watermark, the status, and who is served when; the clock of these tests stands still unless they move it. */
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { append, createRig, lines, type RigOptions } from './tail-rig.ts';

const IDLE = 10_000;
const START = 1_000_000;

function createTimedRig(t: TestContext, options: RigOptions = {}) {
  const clock = { now: START };
  const rig = createRig(t, { idleMs: IDLE, now: () => clock.now, ...options });
  const watermark = () => rig.watermarks.at(-1);
  t.after(() => {
    const rising = rig.watermarks.every((mark, i) => i === 0 || mark >= rig.watermarks[i - 1]!);
    assert.ok(rising, 'a watermark never decreases');
  });
  return {
    ...rig,
    clock,
    untilMark: (ts: number) => rig.until(() => watermark() === ts, `watermark ${ts}, not ${watermark()}`),
    /** It stays there while the tail looks on. */
    async assertMark(ts: number) {
      await rig.untilLooked();
      assert.equal(watermark(), ts);
    },
  };
}

test('tail time: the latest event, then the wall clock when idle', async (t) => {
  const rig = createTimedRig(t);
  const f = rig.path('f.ndjson');
  append(f, 0, 1, 2000);
  append(f, 1, 1, 1500);
  rig.start();
  await rig.untilMark(2000);
  rig.clock.now = START + IDLE - 1;
  await rig.assertMark(2000);
  rig.clock.now = START + IDLE;
  await rig.untilMark(START + IDLE);
  rig.clock.now = START + IDLE + 500;
  await rig.untilMark(START + IDLE + 500);
  // A late event does not turn time back, and while it is fresh time stands still.
  append(f, 2, 1, 3000);
  await rig.untilOnce(3);
  rig.clock.now = START + IDLE + 1000;
  await rig.assertMark(START + IDLE + 500);
});

test('tail time: the slowest active file', async (t) => {
  const rig = createTimedRig(t);
  append(rig.path('a.ndjson'), 0, 1, 1000);
  rig.start();
  await rig.untilMark(1000);
  rig.clock.now = START + 6000;
  append(rig.path('b.ndjson'), 1, 1, 9000);
  await rig.untilOnce(2);
  await rig.assertMark(1000);
  rig.clock.now = START + IDLE; // a is idle now, b is not
  await rig.untilMark(9000);
  rig.clock.now = START + 6000 + IDLE;
  await rig.untilMark(rig.clock.now);
});

test('tail time: no file runs ahead of one that is unread', async (t) => {
  const rig = createTimedRig(t, { sliceBytes: 1000 });
  const last = { a: Number.NEGATIVE_INFINITY, b: Number.NEGATIVE_INFINITY };
  append(rig.path('a.ndjson'), 0, 10, 50_000);
  appendFileSync(rig.path('b.ndjson'), Array.from({ length: 500 }, (_, i) => lines(10 + i, 1, 1000 + i)).join(''));
  const { line, advance } = rig.sink;
  rig.sink.line = (text, origin, ...rest) => {
    const ts = line(text, origin, ...rest);
    const name = origin.writer.endsWith('a.ndjson') ? 'a' : 'b';
    last[name] = Math.max(last[name], typeof ts === 'number' ? ts : 0);
    return ts;
  };
  rig.sink.advance = (source, mark) => {
    assert.ok(mark <= Math.min(last.a, last.b), `${mark} is ahead of ${JSON.stringify(last)}`);
    advance(source, mark);
  };
  rig.start();
  await rig.untilOnce(510);
  await rig.untilMark(1499);
  assert.equal(rig.watermarks[0], Number.NEGATIVE_INFINITY, 'a was read, nothing of b');
});

test('tail time: lines that are no events, and half a line, hold nothing up', async (t) => {
  const rig = createTimedRig(t);
  rig.start();
  writeFileSync(rig.path('f.ndjson'), '{"n":0}\n{"n":1');
  await rig.untilOnce(1);
  await rig.untilMark(START);
  rig.clock.now += 1;
  await rig.untilMark(START + 1);
});

test('tail time: state and lag', async (t) => {
  const states: string[] = [];
  const rig = createTimedRig(t, {
    sliceBytes: 1000,
    onLine: () => {
      const { state, lagBytes, lagSeconds } = rig.status();
      states.push(`${state} ${lagBytes > 0 ? lagSeconds : 'none'}`);
    },
  });
  assert.equal(rig.status().state, 'waiting');
  append(rig.path('f.ndjson'), 0, 100, START - 60_000);
  rig.start();
  await rig.untilOnce(100);
  await rig.until(() => rig.status().state === 'following', 'the end');
  assert.deepEqual(new Set(states), new Set(['replaying 0', 'replaying 60']));
  assert.deepEqual(rig.status(), {
    name: 'events',
    state: 'following',
    faults: [],
    isUp: true,
    files: 1,
    lagBytes: 0,
    lagSeconds: 0,
    tail: { openFiles: 1, unreadRotatedBytes: 0, backlogRatio: 1 },
  });
});

test('R25 a backlog holds up neither a live file nor the event loop', async (t) => {
  const size = 20 * 1024 * 1024;
  const backlog = `{"n":1,"ts":1,"x":"${'x'.repeat(1000)}"}\n`;
  const count = Math.ceil(size / backlog.length);
  let seen = 0;
  let turns = 0;
  let seenWhenLive = 0;
  let turning: NodeJS.Immediate;
  const turn = () => {
    turns++;
    turning = setImmediate(turn);
  };
  const rig = createTimedRig(t, {
    pollMs: 1,
    onLine(text) {
      if (text.startsWith('{"n":2')) seenWhenLive = seen;
      else seen++;
      if (seen === 1000) append(rig.path('live.ndjson'), 2, 1, 2);
    },
  });
  writeFileSync(rig.path('backlog.ndjson'), backlog.repeat(count));
  turn();
  t.after(() => clearImmediate(turning));
  rig.start();
  await rig.until(() => rig.delivered.length === count + 1, 'all of it');
  assert.ok(seenWhenLive >= 1000 && seenWhenLive < count, `live after ${seenWhenLive} of ${count} lines`);
  assert.ok(turns >= size / (256 * 1024), `the loop turned ${turns} times`);
});
