/**
 * The built command line as a child process: `tailfin()` runs it to its end, `startSidecar()` leaves `tailfin run` running.
 * The bundle is dist/main.js, made here only when it is missing; TAILFIN_TEST_MAIN names another one.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseExposition, type Sample, sumOf } from './exposition.ts';
import { until } from './until.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const SCENARIOS = join(ROOT, 'test/scenarios');
export const MAIN = process.env.TAILFIN_TEST_MAIN ?? join(ROOT, 'dist/main.js');

/** For a whole run of the command line on a loaded machine; what takes longer hangs. */
const TIMEOUT_MS = 60_000;
const STALE_LOCK_MS = 5 * 60_000;

export interface Ended {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Text for its standard input; without it the input is empty. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly timeoutMs?: number;
  /** It starts processes of its own: they end with it. */
  readonly group?: boolean;
}

export interface Running {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Rejects when it does not end in time. */
  readonly ended: Promise<Ended>;
}

/** A folder of the test's own, removed after it. */
export function tempFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-cli-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Test files run at the same time and may all miss the bundle: one builds, the others wait for it. */
export async function ensureBuilt(): Promise<void> {
  const lock = join(tmpdir(), `tailfin-build-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`);
  for (;;) {
    const locked = statSync(lock, { throwIfNoEntry: false });
    if (locked === undefined) {
      if (existsSync(MAIN)) return;
      if (takeLock(lock)) break;
    } else if (Date.now() - locked.mtimeMs > STALE_LOCK_MS) rmdirSync(lock);
    await sleep(100);
  }
  try {
    if (existsSync(MAIN)) return;
    const build = spawnSync(process.execPath, [join(ROOT, 'build.mjs')], { encoding: 'utf8' });
    assert.equal(build.status, 0, `node build.mjs failed:\n${build.stdout}${build.stderr}`);
  } finally {
    rmdirSync(lock);
  }
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

/** The environment of a child: nothing of the machine's own configuration of Tailfin. */
export function cleanEnv(env: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('TAILFIN_'));
  return { ...Object.fromEntries(own), ...env };
}

const alive = new Set<() => void>();
process.on('exit', () => {
  for (const end of alive) end();
});

/** Starts any program with captured output. */
export function start(program: string, args: readonly string[], options: RunOptions = {}): Running {
  const { stdin = '', env, cwd = ROOT, uid, timeoutMs = TIMEOUT_MS, group = false } = options;
  const spawnOptions: SpawnOptions = {
    cwd,
    env: cleanEnv(env),
    stdio: 'pipe',
    detached: group,
    ...(uid && { uid, gid: uid }),
  };
  const child = spawn(program, args, spawnOptions);
  const kill = () => {
    try {
      process.kill(group ? -child.pid! : child.pid!, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  alive.add(kill);
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      out[name] += text;
    });
  }
  // A child that ends before it has read everything is no fault of the test.
  child.stdin?.on('error', () => {});
  child.stdin?.end(stdin);
  const ended = new Promise<Ended>((resolve, reject) => {
    const timer = setTimeout(() => {
      kill();
      reject(
        new Error(`${args.join(' ')} did not end within ${timeoutMs} ms\n${out.stdout.slice(-2000)}${out.stderr}`),
      );
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      alive.delete(kill);
      resolve({ code, signal, ...out });
    });
  });
  // Who does not wait for the end does not want to hear of it either.
  ended.catch(() => {});
  return { child, stdout: () => out.stdout, stderr: () => out.stderr, ended };
}

/** The command line in a bash script, as `tailfin`: with pipes and redirections, to the end of all of it. */
export async function shell(script: string, options: RunOptions = {}): Promise<Ended> {
  await ensureBuilt();
  const define = `tailfin() { '${process.execPath}' '${MAIN}' "$@"; }\n`;
  return start('bash', ['-c', define + script], { group: true, ...options }).ended;
}

/** One command line, to its end. */
export async function tailfin(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  await ensureBuilt();
  return start(process.execPath, [MAIN, ...args], options).ended;
}

/** Standard output of a command line that must succeed and have nothing to say on stderr. */
export async function stdoutOf(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tailfin(args, options);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, args.join(' '));
  return stdout;
}

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export interface LogLine {
  readonly ts: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Sidecar extends Running {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  logs(): LogLine[];
  get(path: string): Promise<{ status: number; type: string; body: string }>;
  /** The exposition now. */
  scrape(): Promise<Exposition>;
  ready(): Promise<{ status: number; reasons: string[] }>;
}

/** `tailfin run` on a free port of the loopback, stopped after the test. `events` empty: the default. */
export async function startSidecar(
  t: TestContext,
  events: string,
  { args: more = [], ...options }: RunOptions & { readonly args?: readonly string[] } = {},
): Promise<Sidecar> {
  await ensureBuilt();
  const files = events === '' ? [] : ['--events', events];
  const listen = ['--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0'];
  const args = [MAIN, 'run', ...files, ...listen, ...more];
  const running = start(process.execPath, args, { timeoutMs: 300_000, ...options });
  t.after(() => {
    running.child.kill('SIGKILL');
    return running.ended;
  });
  const logs = () => linesOf(running.stderr()).map((line) => JSON.parse(line) as LogLine);
  // The loopback listener comes second: with it, both are there.
  const listening = () =>
    /"(?:for this pod alone|[^"]*going on without it)/.test(running.stderr())
      ? /"metrics on (http:[^"]+)\/metrics"/.exec(running.stderr())?.[1]
      : undefined;
  await until(() => listening() !== undefined || running.child.exitCode !== null, {
    timeoutMs: TIMEOUT_MS,
    what: () => `the sidecar listens: ${running.stderr()}`,
  });
  const url = listening();
  assert.ok(url !== undefined, running.stderr());
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      body: await response.text(),
    };
  };
  return {
    ...running,
    url,
    logs,
    get,
    async scrape() {
      // Without a checkpoint it shows nothing before it has read what was there at the start.
      let answer = await get('/metrics');
      await until(async () => {
        if (answer.status === 503) answer = await get('/metrics');
        return answer.status !== 503;
      }, BEGINNING);
      assert.equal(answer.status, 200, answer.body);
      return readExposition(answer.body);
    },
    async ready() {
      const { status, body } = await get('/readyz');
      return { status, reasons: (JSON.parse(body) as { reasons: string[] }).reasons };
    },
  };
}

const BEGINNING = { timeoutMs: 70_000, everyMs: 20, what: 'an answer of /metrics other than 503' };

export interface Exposition {
  readonly samples: readonly Sample[];
  readonly help: ReadonlyMap<string, string>;
  readonly type: ReadonlyMap<string, string>;
  /** Sum of the samples of that name which carry these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/**
 * A whole exposition, and the rules between its lines: a family stands together behind its one HELP and one TYPE line, and no
 * series comes twice. Throws on anything else.
 */
export function readExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the exposition ends with a line end');
  const samples: Sample[] = [];
  const help = new Map<string, string>();
  const type = new Map<string, string>();
  const seen = new Set<string>();
  let family = '';
  for (const line of linesOf(text)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (word !== undefined) {
      const into = word === 'HELP' ? help : type;
      assert.ok(!into.has(name), `${word} of ${name} stands twice`);
      into.set(name, rest);
      family = name;
      continue;
    }
    const sample = parseExposition(`${line}\n`)[0]!;
    const base = type.get(family) === 'histogram' ? sample.name.replace(/_(bucket|sum|count)$/, '') : sample.name;
    assert.equal(base, family, `stands outside of its family: ${line}`);
    assert.ok(help.has(family) && type.has(family), `neither HELP nor TYPE before: ${line}`);
    const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    assert.ok(!seen.has(series), `the series comes twice: ${line}`);
    seen.add(series);
    samples.push(sample);
  }
  return { samples, help, type, sum: (name, labels) => sumOf(samples, name, labels) };
}
