/**
 * A pod laid out as processes and folders: the image (the built files and what the demo's hosts load) which nobody may write, mounts as
 * a kubelet makes them, the install step, hosts, sidecar. It starts and stops; what must be the same is judged by the test.
 */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Gateway, type GatewayEntry, startGateway } from '../../src/demo/gateway.ts';
import type { HostConfig } from '../../src/demo/host.ts';
import { Processes } from '../../src/demo/processes.ts';
import { PATHS, TAP_OPTION } from '../../src/k8s/constants.ts';
import { inject } from '../../src/k8s/inject.ts';
import type { Container } from '../../src/k8s/types.ts';
import { type Exposition, ensureBuilt, ROOT, type Running, readExposition, start, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

const HOSTS = ['host-2026', 'host-2025'];
/** Drawn so that few calls bring every signal; the test asks the log whether they did. */
const GATEWAY_SEED = 2096;
const HOST_SEED = 1213;
const CALLS = 40;
/** A new series is not held at 0 for the scrapes of a Prometheus, and nobody is waited for at the end: there is none here. */
const AT_ONCE = { TAILFIN_SCRAPE_INTERVAL_SECONDS: '0', TAILFIN_SCRAPE_LAST_SECONDS: '0' };
/** Patience of the hosts with a silent server. */
const TIMEOUT_MS = 2000;
const WAIT = { timeoutMs: 60_000, everyMs: 50 };

export interface HostRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What it asked, in its order, and what it got. */
  readonly calls: readonly object[];
}
export type Traffic = Readonly<Record<string, HostRun>>;

export interface TrafficOptions {
  readonly tapped?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** When the hosts have made some of their calls. */
  readonly midway?: () => Promise<void>;
  /** While they still run, near their end. */
  readonly atTheEnd?: () => void;
}

export interface Sidecar extends Running {
  scrape(): Promise<Exposition>;
}

export interface Pod {
  /** The folder of the events volume. */
  readonly events: string;
  traffic(options: TrafficOptions): Promise<Traffic>;
  /** What the gateways saw of the last traffic. */
  lastLog(): GatewayEntry[];
  startSidecar(): Promise<Sidecar>;
  emptyEvents(): void;
}

export async function layOut(t: TestContext, hostUid: number): Promise<Pod> {
  await ensureBuilt();
  const folder = tempFolder(t);
  chmodSync(folder, 0o755);
  const app = join(folder, 'app');
  cpSync(join(ROOT, 'dist'), join(app, 'dist'), { recursive: true });
  for (const name of packagesOf(['@modelcontextprotocol/client', '@modelcontextprotocol/sdk']))
    cpSync(join(ROOT, name), join(app, name), { recursive: true });
  const mounts = Object.entries(PATHS).map(([name, path]) => [path, join(folder, name)] as const);
  for (const [, place] of mounts) {
    mkdirSync(place);
    chmodSync(place, 0o777);
  }
  const placed = (text: string) => mounts.reduce((inner, [path, place]) => inner.replaceAll(path, place), text);
  const events = placed(PATHS.events);

  const given = { containers: [{ name: 'host', securityContext: { runAsUser: hostUid } }] };
  const spec = inject(given, { image: 'x' });
  const [install, own] = spec.initContainers as [Container, Container];
  const program = ({ env, securityContext }: Container, args: readonly string[]) =>
    start(process.execPath, [join(app, 'dist/main.js'), ...args.map(placed)], {
      uid: securityContext?.runAsUser as number,
      env: {
        ...AT_ONCE,
        ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, placed(value ?? 'pod-1')])),
      },
      cwd: folder,
      timeoutMs: 280_000,
    });
  const { code, stdout, stderr } = await program(install, install.args ?? []).ended;
  assert.equal(code, 0, stderr);
  const printed = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s, 2)),
  );
  assert.equal(printed.NODE_OPTIONS, placed(TAP_OPTION), 'inject sets what the install step prints');
  assert.equal(printed.TAILFIN_TAP_DIR, events);

  const processes = new Processes();
  t.after(() => processes.stopAll());
  const server = (name: string) =>
    processes.start(name, join(ROOT, 'dist/demo/server.js')).says((said) => (said as { port?: number }).port);
  const ports = await Promise.all([server('the first server'), server('the second server')]);
  let last: GatewayEntry[] = [];

  /** One host with a gateway of its own: then the log is that of the host. */
  async function runHost(name: string, index: number, options: TrafficOptions, gateway: Gateway): Promise<HostRun> {
    const config: HostConfig = {
      ...{ endpoints: gateway.endpoints, seed: HOST_SEED + index, calls: CALLS, paceMs: 1 },
      // One at a time: then the order is the host's own, and not that of the machine.
      ...{ maxInFlight: 1, timeoutMs: TIMEOUT_MS },
    };
    const env = options.tapped === false ? {} : { ...printed, TAILFIN_TAP_HOST: name, ...options.env };
    const args = [join(app, `dist/demo/${name}.js`), JSON.stringify(config)];
    const running = start(process.execPath, args, { uid: hostUid, env, cwd: folder, timeoutMs: 200_000 });
    const reached = (entries: number) => gateway.log.length >= entries || running.child.exitCode !== null;
    if (options.midway) {
      await until(() => reached(CALLS / 2), { ...WAIT, timeoutMs: 120_000, what: running.stderr });
      await options.midway();
    }
    if (options.atTheEnd) {
      await until(() => reached(CALLS), { ...WAIT, timeoutMs: 120_000, what: running.stderr });
      options.atTheEnd();
    }
    const ended = await running.ended;
    const places = new Map(gateway.endpoints.map((url, at) => [url, at]));
    const calls = gateway.log.map(({ endpoint, method, tool, call, fault, answered, bytes }) => ({
      ...{ endpoint: places.get(endpoint), method, tool, call, fault, answered, bytes },
    }));
    return { code: ended.code, stdout: ended.stdout, stderr: ended.stderr, calls };
  }

  return {
    events,
    lastLog: () => last,
    emptyEvents() {
      for (const name of readdirSync(events)) rmSync(join(events, name));
    },
    async traffic(options) {
      const gateways = await Promise.all(HOSTS.map(() => startGateway(ports, GATEWAY_SEED)));
      let isMidway = false;
      const midway = async () => {
        if (isMidway) return;
        isMidway = true;
        await options.midway?.();
      };
      const more = options.midway ? { ...options, midway } : options;
      const runs = await Promise.all(
        HOSTS.map((name, index) => runHost(name, index, more, gateways[index] as Gateway)),
      );
      last = gateways.flatMap(({ log }) => log);
      for (const gateway of gateways) gateway.close();
      return Object.fromEntries(HOSTS.map((name, index) => [name, runs[index] as HostRun]));
    },
    async startSidecar() {
      const args = (own.args ?? []).map((arg) => arg.replace(/^(?:0\.0\.0\.0|127\.0\.0\.1):\d+$/, '127.0.0.1:0'));
      const running = program(own, [...args, '--events', `${PATHS.events}/*.ndjson`]);
      t.after(() => {
        running.child.kill('SIGCONT');
        running.child.kill('SIGKILL');
        return running.ended.catch(() => {});
      });
      const url = () => /"metrics on (http:[^"]+)\/metrics"/.exec(running.stderr())?.[1];
      await until(() => url() !== undefined, { ...WAIT, what: running.stderr });
      const scrape = async (): Promise<Exposition> => {
        let answer = await fetch(`${url()}/metrics`);
        // Until it has read what was there before it.
        await until(async () => {
          if (answer.status === 503) answer = await fetch(`${url()}/metrics`);
          return answer.status !== 503;
        }, WAIT);
        return readExposition(await answer.text());
      };
      return { ...running, scrape };
    },
  };
}

/** Folders below the root: packages, and all that they need. */
function packagesOf(names: readonly string[]): string[] {
  interface Locked {
    readonly dependencies?: object;
    readonly peerDependencies?: object;
  }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const place = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((each) => each in packages);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies, peerDependencies } = packages[place] as Locked;
    for (const each of Object.keys({ ...dependencies, ...peerDependencies })) add(each, place);
  };
  for (const name of names) add(name, '');
  return [...found];
}
