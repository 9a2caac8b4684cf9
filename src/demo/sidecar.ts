/**
 * Runs this package's own command line, as a user would: `run` beside the hosts, `replay` afterwards. The demo reads both through
 * their public output only.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Processes } from './processes.ts';
import { parseExposition, type Sample, sum } from './prom-text.ts';

const POLL_MS = 100;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** The user's own settings are for the user's own Tailfin. */
export const plainEnvironment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TAILFIN_')));

/** The folder of the built programs, seen from the bundle and from the sources alike. */
export function distFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'dist', 'main.js'))) return join(folder, 'dist');
  }
  throw new Error('dist/main.js is missing: run npm run build');
}

export interface Sidecar {
  readonly metricsUrl: string;
  scrape(): Promise<Sample[]>;
  /** Resolves when every written line is counted; false when that did not happen in time. */
  caughtUp(lines: number, budgetMs: number): Promise<boolean>;
}

export async function startSidecar(processes: Processes, dist: string, folder: string): Promise<Sidecar> {
  const args = [
    'run',
    '--events',
    join(folder, '*.ndjson'),
    '--metrics-listen',
    '127.0.0.1:0',
    '--local-listen',
    '127.0.0.1:0',
  ];
  const child = processes.startLeashed('the sidecar', join(dist, 'main.js'), args, plainEnvironment());
  const metricsUrl = await child.says((said) => /metrics on (http:\S+\/metrics)/.exec(String(said))?.[1]);
  const scrape = async (): Promise<Sample[]> => {
    const response = await fetch(metricsUrl, { signal: AbortSignal.timeout(5000) });
    return response.ok ? parseExposition(await response.text()) : [];
  };
  return {
    metricsUrl,
    scrape,
    async caughtUp(lines, budgetMs) {
      for (const deadline = Date.now() + budgetMs; Date.now() < deadline; await setTimeout(POLL_MS)) {
        const samples = await scrape();
        if (sum(samples, 'tailfin_events_total') === lines && sum(samples, 'tailfin_source_lag_bytes') === 0)
          return true;
      }
      return false;
    },
  };
}

/** What `tailfin replay` prints for these files. */
export async function replay(dist: string, format: 'json' | 'prom', files: readonly string[]): Promise<string> {
  const run = promisify(execFile);
  const args = [join(dist, 'main.js'), 'replay', '--format', format, ...files];
  const { stdout } = await run(process.execPath, args, { maxBuffer: MAX_OUTPUT_BYTES, env: plainEnvironment() });
  return stdout;
}
