/**
 * The injected pod as processes, without a cluster: the arguments, variables and mounts are taken from what `inject` makes, with the
 * mounts as folders. Host and sidecar run under two users. Whatever happens to the sidecar, the host does the same.
 */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_QUOTA_MIB, EVENTS_PER_QUOTA, PATHS } from '../../src/k8s/constants.ts';
import { inject } from '../../src/k8s/inject.ts';
import type { Container } from '../../src/k8s/types.ts';
import { type Ended, ensureBuilt, ROOT, type Running, readExposition, start, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

const HOST_UID = 10002;
const skip = process.getuid?.() === 0 ? false : 'skipped: needs root (two users)';
const WAIT = { timeoutMs: 60_000, everyMs: 50 };

/** A server whose every third answer stops short of its end: the host sees text, Tailfin an ambiguous close. */
async function faultyServer(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const { id } = JSON.parse(text) as { id: number };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'x'.repeat(id % 50) }] } };
      response.end(id % 3 === 0 ? ': nothing came\n\n' : `data: ${JSON.stringify(result)}\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`;
}

interface Pod {
  readonly events: string;
  host(calls: number, more?: Readonly<Record<string, string>>): Promise<Ended>;
  plainHost(calls: number): Promise<Ended>;
  startSidecar(): Promise<{ running: Running; url: string }>;
}

async function layOut(t: TestContext): Promise<Pod> {
  await ensureBuilt();
  const folder = tempFolder(t);
  chmodSync(folder, 0o755);
  // The image: the built files, which both users may read and neither may write.
  cpSync(join(ROOT, 'dist'), join(folder, 'app'), { recursive: true });
  cpSync(join(ROOT, 'test/pod/host.mjs'), join(folder, 'host.mjs'));
  const mounts = Object.entries(PATHS).map(([name, path]) => [path, join(folder, name)] as const);
  for (const [, place] of mounts) {
    mkdirSync(place);
    // As the kubelet makes an emptyDir.
    chmodSync(place, 0o777);
  }
  const placed = (text: string) => mounts.reduce((inner, [path, place]) => inner.replaceAll(path, place), text);
  const url = await faultyServer(t);
  const spec = inject({ containers: [{ name: 'host', securityContext: { runAsUser: HOST_UID } }] }, { image: 'x' });
  const [install, sidecar] = spec.initContainers as [Container, Container];
  const envOf = ({ env }: Container) =>
    Object.fromEntries((env ?? []).map(({ name, value }) => [name, placed(value ?? 'pod-1')]));
  const main = join(folder, 'app/main.js');
  const program = (container: Container, uid: number, args: readonly string[]) =>
    start(process.execPath, [main, ...args.map(placed)], {
      uid,
      env: envOf(container),
      cwd: folder,
      timeoutMs: 120_000,
    });
  const installed = await program(install, install.securityContext?.runAsUser as number, install.args ?? []).ended;
  assert.equal(installed.code, 0, installed.stderr);

  // A mount of a pod is where the tap writes by default; here it is a folder, and has to be named.
  const hostEnv = { ...envOf(spec.containers[0] as Container), TAILFIN_TAP_DIR: placed(PATHS.events) };
  const runHost = (calls: number, env: Readonly<Record<string, string>>) =>
    start(process.execPath, [join(folder, 'host.mjs'), url, String(calls)], { uid: HOST_UID, env, cwd: folder }).ended;
  return {
    events: placed(PATHS.events),
    host: (calls, more = {}) => runHost(calls, { ...hostEnv, ...more }),
    plainHost: (calls) => runHost(calls, {}),
    async startSidecar() {
      const args = (sidecar.args ?? []).map((arg) => arg.replace(/^(?:0\.0\.0\.0|127\.0\.0\.1):\d+$/, '127.0.0.1:0'));
      const all = [...args, '--events', `${PATHS.events}/*.ndjson`];
      const running = program(sidecar, sidecar.securityContext?.runAsUser as number, all);
      t.after(() => {
        running.child.kill('SIGCONT');
        running.child.kill('SIGKILL');
        return running.ended;
      });
      const found = () => /"metrics on (http:[^"]+)\/metrics"/.exec(running.stderr())?.[1];
      await until(() => found() !== undefined, { ...WAIT, what: () => running.stderr() });
      return { running, url: found() as string };
    },
  };
}

const scrape = async (url: string) => readExposition(await (await fetch(`${url}/metrics`)).text());

test('the pod as processes: the signals arrive, and nothing that befalls the sidecar changes the host', {
  skip,
}, async (t) => {
  const pod = await layOut(t);
  const calls = 300;
  const plain = await pod.plainHost(calls);
  assert.equal(plain.code, 0);
  const same = async (what: string, ended: Promise<Ended>) => {
    const { code, stdout, stderr } = await ended;
    assert.deepEqual({ code, stdout, stderr }, { code: plain.code, stdout: plain.stdout, stderr: plain.stderr }, what);
  };
  const { running, url } = await pod.startSidecar();

  await t.test('two users, one folder: every ambiguous close is counted, under the name of the pod', async () => {
    await same('beside a healthy sidecar', pod.host(calls));
    const ambiguous = async () =>
      (await scrape(url)).sum('tailfin_stream_closes_total', { outcome: 'ambiguous', stream: 'response' });
    await until(async () => (await ambiguous()) === calls / 3, { ...WAIT, what: 'the ambiguous closes are counted' });
    const clean = (await scrape(url)).sum('tailfin_stream_closes_total', { outcome: 'clean', stream: 'response' });
    assert.equal(clean, calls - calls / 3);
    const [file = ''] = readdirSync(pod.events);
    assert.equal(statSync(join(pod.events, file)).uid, HOST_UID);
  });

  await t.test('a frozen sidecar', async () => {
    running.child.kill('SIGSTOP');
    await same('frozen', pod.host(calls));
    running.child.kill('SIGCONT');
  });

  await t.test('a killed sidecar', async () => {
    running.child.kill('SIGKILL');
    await running.ended;
    await same('killed', pod.host(calls));
  });

  await t.test(
    'the folder filled by several processes at once: within the size of the volume, and the hosts do the same',
    async () => {
      // A quota that all of them pass together; its own files count 64 KiB each at least.
      const quota = 1024 * 1024;
      const hosts = Array.from({ length: 4 }, () => pod.host(calls * 3, { TAILFIN_TAP_QUOTA: String(quota) }));
      const alone = await pod.plainHost(calls * 3);
      for (const { code, stdout, stderr } of await Promise.all(hosts)) {
        assert.deepEqual({ code, stdout }, { code: 0, stdout: alone.stdout });
        assert.equal(stderr, '');
      }
      const sizes = readdirSync(pod.events).map((name) => statSync(join(pod.events, name)).size);
      const used = sizes.reduce((sum, size) => sum + size, 0);
      t.diagnostic(`${used} bytes of events under a quota of ${quota}`);
      assert.ok(used <= EVENTS_PER_QUOTA * quota, String(used));
      assert.ok(used > quota / 2, `the folder was not filled: ${used}`);
      assert.ok(used < DEFAULT_QUOTA_MIB * 1024 * 1024);
    },
  );
});
