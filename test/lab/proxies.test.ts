/**
 * Real proxies in front of a server that is killed in the middle of an event. What the client gets of that depends on the proxy:
 * nginx with its defaults makes a well-formed end of it, under a status of 200.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, ensureBuilt, tempFolder } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { startHost } from './host-process.ts';
import { BUILT_TAP } from './lab.ts';
import { replaySegments } from './verdicts.ts';

const node = process.env.TAILFIN_TEST_NODE ?? process.execPath;
const UPSTREAM = fileURLToPath(new URL('upstream.cjs', import.meta.url));
/** Debian has daemons outside of an ordinary user's PATH. */
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const WAIT = { timeoutMs: 60_000 } as const;
const ROW = 'killed';

interface Proxy {
  readonly program: 'nginx' | 'haproxy';
  /** Writes its configuration into the folder and gives its arguments. */
  configure(folder: string, port: number, upstream: number): readonly string[];
}

const nginx = (extra: string): Proxy => ({
  program: 'nginx',
  configure(folder, port, upstream) {
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http { ${temp.join(' ')} log_format status 'status=$status'; access_log ${folder}/log status;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; ${extra} } } }
`,
    );
    return ['-e', 'stderr', '-p', folder, '-c', file];
  },
});

const haproxy: Proxy = {
  program: 'haproxy',
  configure(folder, port, upstream) {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(
      file,
      `global
  log stdout format raw local0
defaults
  mode http
  log global
  option dontlognull
  log-format status=%ST,bytes=%B,ended=%ts
  timeout connect 10s
  timeout client 120s
  timeout server 120s
frontend lab
  bind 127.0.0.1:${port}
  default_backend lab
backend lab
  server one 127.0.0.1:${upstream}
`,
    );
    return ['-db', '-f', file];
  },
};

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function endAfter(t: TestContext, child: ChildProcess): void {
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
}

/** The log of a running proxy, whichever way it writes one. */
async function startProxy(t: TestContext, proxy: Proxy, folder: string, port: number, upstream: number) {
  const args = proxy.configure(folder, port, upstream);
  const child = spawn(proxy.program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: cleanEnv({ PATH }) });
  endAfter(t, child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  await until(() => accepts(port), { ...WAIT, what: () => `${proxy.program} listens: ${output}` });
  const file = join(folder, 'log');
  return { log: () => output + (existsSync(file) ? readFileSync(file, 'utf8') : '') };
}

interface Outcome {
  readonly verdict: Readonly<Record<string, unknown>>;
  /** Of the call that was cut, as the proxy's log has it. */
  readonly logged: string | undefined;
  readonly host: { settled: { call: string; error?: { code?: string; cause?: string } }[]; onerror: string[] };
}

async function killBehind(t: TestContext, proxy: Proxy): Promise<Outcome> {
  await ensureBuilt();
  const folder = tempFolder(t);
  const events = join(folder, 'events');
  mkdirSync(events);
  const upstream = fork(UPSTREAM, { execPath: node, execArgv: [], env: cleanEnv() });
  endAfter(t, upstream);
  const [{ port: upstreamPort }] = (await once(upstream, 'message')) as [{ port: number }];
  const port = await freePort();
  const { log } = await startProxy(t, proxy, folder, port, upstreamPort);
  const half = once(upstream, 'message');
  const host = startHost({
    node,
    client: 'C2-2026',
    modules: 'cjs',
    env: { NODE_OPTIONS: `--require ${JSON.stringify(BUILT_TAP)}`, TAILFIN_TAP_DIR: events },
    rows: [{ id: ROW, url: `http://127.0.0.1:${port}/mcp`, callUrl: null, host: 'one' }],
  });
  await half;
  upstream.kill('SIGKILL');
  // The proxy has noticed, and has passed on what it makes of it, when it writes its log.
  const statuses = () => [...log().matchAll(/status=(\d+)/g)].map(([, status]) => status);
  await until(() => statuses().length === 2, { ...WAIT, what: () => `${proxy.program} logs two requests: ${log()}` });
  const logged = statuses()[1];
  host.expire(ROW);
  const { seen, problems } = await host.ended;
  assert.deepEqual(problems, []);
  const { records } = await replaySegments(node, events);
  const verdicts = records.filter(({ record, target }) => record === 'verdict' && target === ROW);
  assert.equal(verdicts.length, 1);
  const { outcome, cause, cut, stage, status } = verdicts[0] as unknown as Record<string, unknown>;
  return { verdict: { outcome, cause, cut, stage, status }, logged, host: JSON.parse(seen.get(ROW) ?? 'null') };
}

function proxyTest(name: string, proxy: Proxy, check: (outcome: Outcome) => void): void {
  const missing = spawnSync(proxy.program, ['-v'], { env: { ...process.env, PATH } }).error !== undefined;
  test(name, async (t) => {
    if (missing) return t.skip(`skipped: needs ${proxy.program}`);
    check(await killBehind(t, proxy));
  });
}

const errorOf = ({ host }: Outcome) => host.settled.find(({ call }) => call === ROW)?.error;

proxyTest('nginx as it comes: the client, its log and the status say that all is well', nginx(''), (outcome) => {
  assert.deepEqual(outcome.verdict, {
    outcome: 'ambiguous',
    cause: 'no_evidence',
    cut: 'mid',
    stage: 'mid_event',
    status: 200,
  });
  assert.equal(outcome.logged, '200');
  // Nothing but its own timeout tells the client, and no error is reported to it.
  assert.equal(errorOf(outcome)?.code, 'REQUEST_TIMEOUT');
});

/** Here the proxy tells: the end is not well-formed. */
function brokenOff({ verdict, logged }: Outcome): void {
  assert.deepEqual(verdict, {
    outcome: 'abandoned',
    cause: 'transport_error',
    cut: 'mid',
    stage: 'mid_event',
    status: 200,
  });
  assert.equal(logged, '200');
}

const UNBUFFERED = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;';
proxyTest('nginx, HTTP/1.1 to the server and no buffering: the connection breaks', nginx(UNBUFFERED), brokenOff);

proxyTest('haproxy: the connection breaks', haproxy, brokenOff);
