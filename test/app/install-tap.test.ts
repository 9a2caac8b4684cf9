/**
 * `tailfin install-tap`: the file, the folder and the environment line, tried out on Node itself; by the command line on a copy of
 * the bundle with a stand-in for the tap beside it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EVENTS_FOLDER, installTap, quoted, TAP_FILE } from '../../src/app/command-install-tap.ts';
import { RuntimeFailure } from '../../src/app/exit.ts';
import { ensureBuilt, MAIN, start } from '../support/cli.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const STAND_IN = 'console.log("the tap is loaded");\n';
const mode = (path: string): number => statSync(path).mode & 0o7777;

function place(t: TestContext, text = STAND_IN) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-install-')));
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tap = join(folder, 'built.cjs');
  writeFileSync(tap, text);
  return { folder, tap, dir: join(folder, 'tap'), events: join(folder, 'run/events') };
}

test('the tap is there for every user, the events folder open to all, whatever the umask', (t) => {
  const { tap, dir, events } = place(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  const lines = installTap({ folder: dir, events, tap });
  assert.deepEqual(lines, [`NODE_OPTIONS=--require ${dir}/${TAP_FILE}`, `TAILFIN_TAP_DIR=${events}`]);
  assert.equal(readFileSync(join(dir, TAP_FILE), 'utf8'), STAND_IN);
  assert.equal(mode(join(dir, TAP_FILE)), 0o644);
  assert.equal(mode(events), 0o1777);
  assert.deepEqual(readdirSync(dir), [TAP_FILE]);
});

test('a second time changes nothing; a new tap replaces the old one at once', (t) => {
  const { tap, dir, events } = place(t);
  installTap({ folder: dir, events, tap });
  const { ino } = statSync(join(dir, TAP_FILE));
  installTap({ folder: dir, events, tap });
  assert.equal(statSync(join(dir, TAP_FILE)).ino, ino);
  writeFileSync(tap, `${STAND_IN}// newer\n`);
  installTap({ folder: dir, events, tap });
  assert.notEqual(
    statSync(join(dir, TAP_FILE)).ino,
    ino,
    'another file under the name: who read the old one still has it whole',
  );
  assert.match(readFileSync(join(dir, TAP_FILE), 'utf8'), /newer/);
  chmodSync(join(dir, TAP_FILE), 0o600);
  installTap({ folder: dir, events, tap });
  assert.equal(mode(join(dir, TAP_FILE)), 0o644);
});

for (const name of ['tap', 'with blanks in it', 'a "quoted" one', 'back\\slash', 'back\\slash and blank', "it's"])
  test(`Node takes the environment line as it is printed: ${name}`, (t) => {
    const { folder, tap, events } = place(t);
    const [line] = installTap({ folder: join(folder, name), events, tap });
    const [, variable, value] = /^(\w+)=(.*)$/.exec(line!)!;
    const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', 'console.log("host")'], {
      env: { [variable!]: value! },
      encoding: 'utf8',
    });
    assert.deepEqual({ stdout, stderr, status }, { stdout: 'the tap is loaded\nhost\n', stderr: '', status: 0 });
  });

test('only what needs quotes gets them', () => {
  assert.equal(quoted('/opt/tap/t.cjs'), '/opt/tap/t.cjs');
  assert.equal(quoted('/a b/t.cjs'), '"/a b/t.cjs"');
});

const failure = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof RuntimeFailure);
  assert.match(error.message, pattern);
  return true;
};

test('errors say what cannot be done and why', (t) => {
  const { folder, tap, dir, events } = place(t);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const install = (options: object) => () => installTap({ folder: dir, events, tap, ...options });
  assert.throws(install({ tap: join(folder, 'none.cjs') }), failure(/^cannot read the tap .*none\.cjs: .*\(ENOENT\)$/));
  assert.throws(install({ folder: join(file, 'x') }), failure(/^cannot make the folder .*file\/x: .*\(ENOTDIR\)$/));
  assert.throws(install({ events: file }), failure(/^cannot make the events folder .*file: .*\(EEXIST\)$/));
  assert.throws(install({ folder: `${dir}\n` }), failure(/line end/));
  mkdirSync(join(folder, 'taken', TAP_FILE), { recursive: true });
  assert.throws(install({ folder: join(folder, 'taken') }), failure(/^cannot write .*: .*\(EISDIR\)$/));
  assert.deepEqual(readdirSync(join(folder, 'taken')), [TAP_FILE], 'no temporary file is left');
});

/** The bundle in a folder of its own, with a tap. */
async function withTap(t: TestContext): Promise<string> {
  await ensureBuilt();
  const { folder } = place(t);
  const dist = join(folder, 'lib/dist');
  cpSync(dirname(MAIN), dist, { recursive: true });
  writeFileSync(join(folder, 'lib/package.json'), '{"type":"module"}');
  writeFileSync(join(dist, TAP_FILE), STAND_IN);
  return folder;
}

test('by the command line, as any user, without a shell', async (t) => {
  const folder = await withTap(t);
  const main = join(folder, 'lib/dist/main.js');
  const volume = join(folder, 'volume');
  mkdirSync(volume);
  const uid = isRoot ? NOBODY : process.getuid!();
  chownSync(volume, uid, isRoot ? NOBODY : process.getgid!());
  const run = (...args: string[]) =>
    start(process.execPath, [main, 'install-tap', ...args], { cwd: volume, ...(isRoot && { uid }) }).ended;
  for (let time = 0; time < 2; time++) {
    const { code, stdout, stderr } = await run('tap', '--events', 'events');
    const expected = `NODE_OPTIONS=--require ${volume}/tap/${TAP_FILE}\nTAILFIN_TAP_DIR=${volume}/events\n`;
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: expected, stderr: '' });
  }
  assert.equal(mode(join(volume, 'events')), 0o1777);
  const none = await run();
  assert.equal(none.code, 2);
  assert.match(none.stderr, /missing required argument 'dir'/);
  const help = await run('--help');
  assert.match(help.stdout, /Examples:\n +tailfin install-tap /);
  assert.ok(help.stdout.includes(EVENTS_FOLDER));
});

test('folders that may not be written to: exit 3 and one line; a volume of another user that is open to all is fine', async (t) => {
  if (!isRoot) return t.skip('skipped: needs root');
  const folder = await withTap(t);
  const run = (dir: string, events: string) =>
    start(process.execPath, [join(folder, 'lib/dist/main.js'), 'install-tap', dir, '--events', events], {
      uid: NOBODY,
      cwd: '/',
    }).ended;
  const open = join(folder, 'open');
  const closed = join(folder, 'closed');
  mkdirSync(open);
  chmodSync(open, 0o777);
  mkdirSync(closed, { mode: 0o755 });
  for (const [dir, events, what] of [
    [closed, open, /^tailfin: cannot write \S+closed\/tailfin-tap\.cjs: permission denied \(EACCES\)\n$/],
    [join(closed, 'x'), open, /^tailfin: cannot make the folder \S+closed\/x: permission denied \(EACCES\)\n$/],
    [open, closed, /^tailfin: cannot open the events folder \S+closed to every user \(mode 0755\): \S.*\(EPERM\)\n$/],
    [open, join(closed, 'x'), /^tailfin: cannot make the events folder \S+closed\/x: permission denied \(EACCES\)\n$/],
  ] as const) {
    const { code, stdout, stderr } = await run(dir, events);
    assert.deepEqual({ code, stdout }, { code: 3, stdout: '' });
    assert.match(stderr, what);
  }
  const { code, stderr } = await run(open, open);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.equal(mode(open), 0o777);
});
