/**
 * The injected pod as processes, without a cluster: the demo's own hosts and servers, the arguments and variables that `inject` makes,
 * the install step's printed line, and the mounts as folders. Hosts and sidecar run under two users. What the hosts do is taken from
 * the gateway's log, which knows nothing of Tailfin: whatever happens to the sidecar or the folder, it must be the same.
 */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { measureSignals } from '../../src/demo/signals.ts';
import { DEFAULT_QUOTA_MIB, EVENTS_PER_QUOTA } from '../../src/k8s/constants.ts';
import { until } from '../support/until.ts';
import { fullDisk } from './full-disk.ts';
import { layOut, type Pod, type Traffic } from './layout.ts';

const skip = process.getuid?.() === 0 ? false : 'skipped: needs root (two users)';
const HOST_UID = 10002;
/** An operation is counted 30 s after its end (docs/decisions/0005). */
const COUNTED = { timeoutMs: 150_000, everyMs: 500 };

/** `says`: the lines of the tap that a person is to see in the log of the host; nothing else may be different. */
const same = (what: string, found: Traffic, plain: Traffic, says = /^$/): void => {
  assert.deepEqual(Object.keys(found), Object.keys(plain));
  for (const [name, host] of Object.entries(plain)) {
    assert.match(found[name]?.stderr ?? '', says, `${what}: ${name}`);
    assert.deepEqual({ ...found[name], stderr: host.stderr }, host, `${what}: ${name}`);
  }
};

test('the pod as processes', { skip }, async (t) => {
  const pod = await layOut(t, HOST_UID);
  const plain = await pod.traffic({ tapped: false });
  for (const { code, stderr, calls } of Object.values(plain)) {
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.ok(calls.length > 40, String(calls.length));
  }
  assert.deepEqual(readdirSync(pod.events), [], 'without the tap nothing is written');

  await t.test("two users, one folder: the demo's three signals arrive on /metrics", () => signalsArrive(pod, plain));
  await t.test('a sidecar that is frozen in the midst of it, and wakes up', () => frozen(pod, plain));
  await t.test('a sidecar that is killed in the midst of it', async () => {
    const sidecar = await pod.startSidecar();
    const found = await pod.traffic({
      async midway() {
        sidecar.child.kill('SIGKILL');
        await sidecar.ended;
      },
    });
    same('killed', found, plain);
    const next = await pod.startSidecar();
    const { sum } = await next.scrape();
    assert.equal(sum('tailfin_checkpoint_restores_total', { result: 'restored' }), 1, next.stderr());
    next.child.kill('SIGKILL');
    await next.ended;
  });
  await t.test('the folder filled to its quota by several processes at once', (sub) => filled(sub, pod, plain));
  await t.test('a full disk', { skip: fullDisk.skip }, async () => {
    const found = await fullDisk.around(pod.events, (usage) =>
      pod.traffic({ atTheEnd: () => assert.ok(usage() > 0.9) }),
    );
    same('full disk', found, plain, /^tailfin-tap: cannot write to \S+ \(ENOSPC\); events are dropped, [^\n]+\n$/);
  });
});

async function signalsArrive(pod: Pod, plain: Traffic): Promise<void> {
  const sidecar = await pod.startSidecar();
  const found = await pod.traffic({});
  same('beside a healthy sidecar', found, plain);
  const log = pod.lastLog();
  let state = '';
  const arrived = async (): Promise<boolean> => {
    const exposition = await sidecar.scrape();
    const { ambiguous, masked, parseFailures } = measureSignals([], exposition.samples, log);
    const numbers = {
      ambiguous: [exposition.sum('tailfin_stream_closes_total', { outcome: 'ambiguous' }), ambiguous.gateway],
      masked: [exposition.sum('tailfin_operations_total', { result: 'masked_rotated' }), masked.gateway],
      parse: [parseFailures.tailfin, parseFailures.gateway],
    };
    state = JSON.stringify(numbers);
    return Object.values(numbers).every(([tailfin, gateway]) => gateway! > 0 && tailfin === gateway);
  };
  await until(arrived, { ...COUNTED, what: () => `[Tailfin, gateway]: ${state}` });
  for (const name of readdirSync(pod.events)) assert.equal(statSync(join(pod.events, name)).uid, HOST_UID);
  sidecar.child.kill('SIGTERM');
  assert.equal((await sidecar.ended).code, 0);
}

async function frozen(pod: Pod, plain: Traffic): Promise<void> {
  const sidecar = await pod.startSidecar();
  const cuts = async () => (await sidecar.scrape()).sum('tailfin_stream_closes_total', { outcome: 'ambiguous' });
  const before = await cuts();
  const found = await pod.traffic({ midway: async () => void sidecar.child.kill('SIGSTOP') });
  same('frozen', found, plain);
  sidecar.child.kill('SIGCONT');
  const { ambiguous } = measureSignals([], [], pod.lastLog());
  await until(async () => (await cuts()) === before + ambiguous.gateway, { ...COUNTED, what: 'nothing was lost' });
  sidecar.child.kill('SIGKILL');
  await sidecar.ended;
}

async function filled(t: TestContext, pod: Pod, plain: Traffic): Promise<void> {
  // Every one of the hosts alone passes it.
  const quota = 64 * 1024;
  pod.emptyEvents();
  const runs = [1, 2, 3].map(() => pod.traffic({ env: { TAILFIN_TAP_QUOTA: String(quota) } }));
  for (const found of await Promise.all(runs)) same('at the quota', found, plain);
  const sizes = readdirSync(pod.events).map((name) => statSync(join(pod.events, name)).size);
  const used = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(`${used} bytes of events of ${2 * runs.length} processes, under a quota of ${quota}`);
  assert.ok(used <= EVENTS_PER_QUOTA * quota, `within the size of the volume: ${used}`);
  assert.ok(used > quota / 2, `the folder was not filled: ${used}`);
  assert.ok(quota < DEFAULT_QUOTA_MIB * 1024 * 1024);
}
