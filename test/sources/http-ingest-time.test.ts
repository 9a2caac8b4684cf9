/** Time of the HTTP source: the slowest of the connections at work, then the wall clock, never back. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../src/core/model/limits.ts';
import { createSenders } from '../../src/sources/senders.ts';
import { createIngestRig, type IngestRig } from '../support/ingest-rig.ts';
import { until } from '../support/until.ts';

const IDLE = LIMITS.idleSourceMs;
const NOTHING = Number.NEGATIVE_INFINITY;

/** A sender with one connection. */
function createSender(t: TestContext, rig: IngestRig) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return (ts: number) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(rig.url, { method: 'POST', agent }, (response) => {
        response.resume().on('end', () => {
          // Without the next turn the connection is not free again.
          setImmediate(resolve);
        });
      });
      sent.on('error', reject);
      sent.end(`{"v":1,"type":"gap","ts":${ts},"dropped":0}\n`);
    });
}

const latest = (rig: IngestRig): number => rig.watermarks.at(-1) ?? NOTHING;
const untilMark = (rig: IngestRig, mark: number) =>
  until(() => latest(rig) === mark, { what: () => `${mark}, at ${latest(rig)}` });
/** Two looks later whatever was to happen has happened. */
async function looks(rig: IngestRig): Promise<void> {
  const seen = rig.watermarks.length;
  await until(() => rig.watermarks.length > seen + 2);
}

test('http time: nothing is known at first; after the idle time it is the wall clock', async (t) => {
  const rig = await createIngestRig(t);
  await looks(rig);
  assert.equal(latest(rig), NOTHING);
  rig.clock.now += IDLE - 1;
  await looks(rig);
  assert.equal(latest(rig), NOTHING);
  rig.clock.now += 1;
  await untilMark(rig, rig.clock.now);
});

test('http time: the slower of two connections leads, for as long as it is at work', async (t) => {
  const rig = await createIngestRig(t);
  const start = rig.clock.now;
  const [fast, slow] = [createSender(t, rig), createSender(t, rig)];
  await slow(start - 5000);
  assert.equal(latest(rig), start - 5000);
  await fast(start - 10);
  assert.equal(latest(rig), start - 5000);
  await slow(start - 3000);
  assert.equal(latest(rig), start - 3000);
  rig.clock.now = start + IDLE - 1;
  await fast(start + 100);
  assert.equal(latest(rig), start - 3000);
  rig.clock.now = start + IDLE;
  await untilMark(rig, start + 100);
  // The other one has stopped too: the wall clock, which an old batch does not turn back.
  rig.clock.now = start + 2 * IDLE;
  await untilMark(rig, rig.clock.now);
  await slow(start);
  assert.equal(latest(rig), rig.clock.now);
  for (const [i, mark] of rig.watermarks.entries()) assert.ok(i === 0 || mark >= rig.watermarks[i - 1]!, 'back');
});

test('http time: a refused batch and one of broken lines move nothing', async (t) => {
  const rig = await createIngestRig(t);
  const start = rig.clock.now;
  await createSender(t, rig)(start);
  rig.clock.now = start + IDLE - 1;
  assert.equal((await rig.post('{\n')).json.rejected, 1);
  assert.equal((await rig.post('', { method: 'PUT' })).status, 405);
  assert.equal(latest(rig), start);
  rig.clock.now = start + IDLE;
  await untilMark(rig, rig.clock.now);
});

test('senders: who closes is one of the others that closed', () => {
  const { delivered, closed, least } = createSenders(10);
  const [a, b, c] = [{}, {}, {}];
  assert.equal(least(0), undefined);
  delivered(a, 100, 0);
  delivered(b, 200, 5);
  assert.equal(least(5), 100);
  closed(a);
  closed(b);
  closed(c);
  assert.equal(least(5), 200, 'the newest of those that are gone');
  delivered(c, 150, 8);
  assert.equal(least(8), 150);
  delivered(c, 120, 9);
  assert.equal(least(9), 150, 'a late line does not turn it back');
  assert.equal(least(15), 150);
  assert.equal(least(19), undefined);
});
