/**
 * `tailfin demo`: two real MCP servers, a fault gateway, two real hosts whose traffic is recorded, and the sidecar tailing those
 * records; then a report that sets Tailfin's word beside the gateway's own log. Assembly only: starts, waits, compares, cleans up.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { installTap } from '../app/command-install-tap.ts';
import { compare } from './compare.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { HostConfig } from './host.ts';
import { type Child, ChildFailure, Processes } from './processes.ts';
import { renderReport, shortfalls } from './report.ts';
import { distFolder, plainEnvironment, startSidecar } from './sidecar.ts';
import { onInterrupt, type Sink, showProgress } from './terminal.ts';

export interface DemoOptions {
  /** Stop after the report; the exit code then says whether the report is as it should be. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly durationMs?: number;
}

const SEED = 1213;
const PACE_MS = 80;
/** After the report: slow enough that a forgotten demo does not fill the disk. */
const IDLE_PACE_MS = 500;
const TIMEOUT_MS = 2000;
const MAX_IN_FLIGHT = 4;
const HOSTS = ['host-2026', 'host-2025'];
const PACKAGES = ['client', 'node', 'sdk/client/index.js', 'server'].map((name) => `@modelcontextprotocol/${name}`);

export async function runDemo(options: DemoOptions): Promise<number> {
  const missing = PACKAGES.find((name) => !isInstalled(name));
  if (missing !== undefined) {
    options.stderr.write(`tailfin: the demo needs ${missing}: run it in a clone of the repository, after npm ci\n`);
    return 3;
  }
  const interrupt = onInterrupt(options.signal);
  const demo = new Demo(options, distFolder(), interrupt.signal);
  try {
    return await demo.run();
  } catch (error) {
    if (interrupt.signal.aborted) return options.once ? 1 : 0;
    if (!(error instanceof ChildFailure)) throw error;
    options.stderr.write(`tailfin: ${error.message}\n`);
    return 3;
  } finally {
    await demo.cleanUp();
    interrupt.release();
  }
}

class Demo {
  readonly #options: DemoOptions;
  readonly #dist: string;
  readonly #interrupted: AbortSignal;
  readonly #processes = new Processes();
  readonly #folder = mkdtempSync(join(tmpdir(), 'tailfin-demo-'));
  readonly #events = join(this.#folder, 'events');
  #gateway: Gateway | undefined;

  constructor(options: DemoOptions, dist: string, interrupted: AbortSignal) {
    this.#options = options;
    this.#dist = dist;
    this.#interrupted = interrupted;
  }

  async run(): Promise<number> {
    const { stdout, durationMs = 20_000 } = this.#options;
    mkdirSync(this.#events);
    const [sidecar, ...ports] = await Promise.all([
      startSidecar(this.#processes, this.#dist, this.#events),
      this.#startServer('the first server'),
      this.#startServer('the second server'),
    ]);
    this.#gateway = await startGateway(ports, SEED);

    await this.#runTraffic(this.#gateway, durationMs);
    const findings = await compare(this.#dist, this.#events, sidecar, this.#gateway.log);
    if (!findings.complete) this.#options.stderr.write('tailfin: the sidecar did not count every line in time\n');
    const short = shortfalls(findings);
    stdout.write(renderReport(findings, Math.round(durationMs / 1000)));
    for (const line of short) stdout.write(`${line}\n`);
    if (this.#options.once) return short.length === 0 ? 0 : 1;

    const program = relative(process.cwd(), join(this.#dist, 'main.js'));
    stdout.write(`Look further:  node ${program} replay ${join(this.#events, '*.ndjson')}\n`);
    stdout.write(`Scrape:        ${sidecar.metricsUrl}\nThe hosts go on, more slowly. Ctrl-C ends the demo.\n`);
    const hosts = this.#startHosts(this.#gateway, Number.MAX_SAFE_INTEGER, IDLE_PACE_MS);
    if (!this.#interrupted.aborted) {
      await Promise.race([once(this.#interrupted, 'abort'), ...hosts.map((host) => host.ended)]);
    }
    return 0;
  }

  async cleanUp(): Promise<void> {
    await this.#processes.stopAll();
    this.#gateway?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #startServer(name: string): Promise<number> {
    const child = this.#processes.start(name, join(this.#dist, 'demo', 'server.js'));
    return child.says((said) => (said as { port?: number }).port);
  }

  #startHosts({ endpoints }: Gateway, calls: number, paceMs: number): Child[] {
    return HOSTS.map((name, index) => {
      const config: HostConfig = {
        endpoints,
        seed: SEED + index,
        calls,
        paceMs,
        maxInFlight: MAX_IN_FLIGHT,
        timeoutMs: TIMEOUT_MS,
      };
      return this.#processes.start(name, join(this.#dist, 'demo', `${name}.js`), config, this.#hostEnvironment(name));
    });
  }

  /** The environment is all that a host has of Tailfin: that which `tailfin install-tap` prints. */
  #hostEnvironment(name: string): NodeJS.ProcessEnv {
    const lines = installTap({ folder: join(this.#folder, 'tap'), events: this.#events });
    const printed = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
    const options = [process.env.NODE_OPTIONS, printed.NODE_OPTIONS].filter(Boolean).join(' ');
    return { ...plainEnvironment(), ...printed, NODE_OPTIONS: options, TAILFIN_TAP_HOST: name };
  }

  /** Lets both hosts make their calls, and waits until those are settled. */
  async #runTraffic(gateway: Gateway, durationMs: number): Promise<void> {
    const hosts = this.#startHosts(gateway, Math.round(durationMs / PACE_MS), PACE_MS);
    const finish = (): void => {
      for (const host of hosts) host.finish();
    };
    const late = setTimeout(finish, 1.7 * durationMs);
    this.#interrupted.addEventListener('abort', finish, { once: true });
    const progress = showProgress(this.#options.stderr, gateway.log, durationMs);
    try {
      await Promise.all(hosts.map((host) => host.ended));
    } finally {
      clearTimeout(late);
      progress.end();
    }
    this.#interrupted.throwIfAborted();
  }
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
