/** The ends that a process may have, threads and children: what is in the files then, and that the host does not notice. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { assertInOrder, eventsIn, openFolder, readSegments, startHost } from './rig.ts';

const types = (lines: readonly { type: string }[]) => lines.map(({ type }) => type);

for (const [name, script, code] of [
  ['its work is done', '', 0],
  ['process.exit', 'process.exit(5)', 5],
  ['process.exit in a later turn', 'setTimeout(() => process.exit(5), 20)', 5],
  ['an exception', 'setTimeout(() => { throw new Error("the host fails") }, 20)', 1],
] as const)
  test(`the process ends by ${name}: every line is there, and the end`, async (t) => {
    const folder = openFolder(t);
    const started = performance.now();
    // An hour between two writes: a timer that held the process would be seen.
    const host = startHost(
      folder,
      `const w = writer({ flushMs: 3600000 }); for (let i = 0; i < 100; i++) emit(w, i); ${script}`,
    );
    assert.equal((await host.ended).code, code);
    assert.ok(performance.now() - started < 30_000);
    const files = readSegments(folder);
    assert.equal(files.length, 1);
    assertInOrder(files);
    assert.equal(eventsIn(files).length, 100);
    assert.equal(files[0]!.lines.at(-1)!.type, 'end');
  });

test('process.exit at any moment of writing: every line once, in order, and one end a file', async (t) => {
  // Sizes that put a write, a rotation or an opening in flight at the exit.
  const folder = openFolder(t);
  const runs = Array.from({ length: 24 }, async (_, i) => {
    const place = `${folder}/${i}`;
    const script = `const w = writer({ flushMs: 1, flushBytes: 500, segmentBytes: ${1000 + 700 * i} });
      let n = 0; const more = () => { for (let i = 0; i < 20; i++) emit(w, n++); if (n < 2000) setImmediate(more); };
      more(); const t = setInterval(() => { if (n >= ${20 + 77 * i}) { console.log(n); process.exit(0); } }, 1);
      setImmediate(function look() { if (n >= ${20 + 77 * i}) { console.log(n); process.exit(0); } setImmediate(look); });`;
    const { stdout, code, stderr } = await startHost(place, script).ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const files = readSegments(place).filter(({ lines }) => lines.length > 0);
    assertInOrder(files);
    assert.equal(eventsIn(files).length, Number(stdout));
    for (const { lines } of files) {
      assert.equal(lines[0]!.type, 'segment');
      assert.deepEqual(types(lines).filter((type) => type === 'end').length, 1);
      assert.equal(lines.at(-1)!.type, 'end');
    }
  });
  await Promise.all(runs);
});

test('kill -9: what was written is whole lines; there is no end', async (t) => {
  const folder = openFolder(t);
  const host = startHost(folder, `const w = writer({ flushMs: 5 }); let n = 0; setInterval(() => emit(w, n++), 1);`);
  await until(() => readdirSync(folder).length > 0 && eventsIn(readSegments(folder)).length > 20, {
    timeoutMs: 20_000,
    what: 'lines',
  });
  host.child.kill('SIGKILL');
  assert.equal((await host.ended).signal, 'SIGKILL');
  const files = readSegments(folder);
  assertInOrder(files);
  assert.ok(files[0]!.isWhole);
  assert.ok(!types(files[0]!.lines).includes('end'));
});

test('SIGTERM ends the host as if there were no tap: no handler of ours', async (t) => {
  const folder = openFolder(t);
  const script = `const before = process.listenerCount('SIGTERM'); const w = writer({ flushMs: 5 }); emit(w, 1);
    setInterval(() => console.log(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT') - before), 5);`;
  const host = startHost(folder, script);
  await until(() => host.stdout() !== '', { what: 'the host runs' });
  host.child.kill('SIGTERM');
  assert.equal((await host.ended).signal, 'SIGTERM');
  assert.match(host.stdout(), /^0\n/);
});

test('each thread and each child has a writer of its own; a thread that ends writes its end', async (t) => {
  const folder = openFolder(t);
  const script = `
    const { Worker, isMainThread, workerData } = require('node:worker_threads');
    const { spawn } = require('node:child_process');
    const w = writer();
    for (let i = 0; i < 10; i++) emit(w, i);
    if (isMainThread && process.argv[2] !== 'child') {
      for (const way of ['ends', 'exits']) new Worker(__filename, { workerData: way });
      spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' });
    } else if (workerData === 'exits') setTimeout(() => process.exit(0), 20);`;
  assert.equal((await startHost(folder, script).ended).code, 0);
  const files = readSegments(folder);
  assert.equal(files.length, 4);
  assert.equal(new Set(files.map(({ lines }) => lines[0]!.writer)).size, 4);
  for (const file of files) {
    assertInOrder([file]);
    assert.equal(eventsIn([file]).length, 10);
    assert.equal(file.lines.at(-1)!.type, 'end');
  }
});

test('threads share the digest key, a child does not', async (t) => {
  const folder = openFolder(t);
  const script = `
    const { Worker, isMainThread } = require('node:worker_threads');
    const { spawn } = require('node:child_process');
    const d = tap.createDigester(tap.loadKey({ complain: console.error }));
    const isChild = process.argv[2] === 'child';
    require('node:fs').writeSync(1, (isChild ? 'child ' : 'thread ') + d.keyId + ' ' + d.digest('x') + '\\n');
    if (isMainThread && !isChild) { new Worker(__filename); spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' }); }`;
  const { stdout, stderr } = await startHost(folder, script).ended;
  assert.equal(stderr, '');
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, 3, stdout);
  assert.equal(new Set(lines.filter((line) => line.startsWith('thread'))).size, 1);
  assert.equal(new Set(lines.map((line) => line.replace(/^\w+ /, ''))).size, 2);
});

test('a host with as many exit listeners as Node allows gets no warning from us; the context of a request is not held', async (t) => {
  const folder = openFolder(t);
  const script = `
    const { AsyncLocalStorage } = require('node:async_hooks');
    for (let i = 0; i < 10; i++) process.on('exit', () => {});
    const store = new AsyncLocalStorage();
    const held = new WeakRef(store.run({ request: 'big' }, () => { const w = writer({ flushMs: 1 }); emit(w, 1); globalThis.w = w; return store.getStore(); }));
    const wait = setInterval(() => { globalThis.gc();
      if (w.stats().segments === 1 && held.deref() === undefined) { clearInterval(wait); console.log('free'); } }, 10);
    setTimeout(() => { console.log('held'); process.exit(1); }, 10000).unref();`;
  const { stdout, stderr } = await startHost(folder, script, { nodeArgs: ['--expose-gc'] }).ended;
  assert.deepEqual({ stdout, stderr }, { stdout: 'free\n', stderr: '' });
});
