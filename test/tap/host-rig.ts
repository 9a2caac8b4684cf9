/** Real host processes under the built tap, and the lines that they left behind. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Ended, ensureBuilt, ROOT, start, tempFolder } from '../support/cli.ts';
import { checked, type Line } from './rig.ts';

export const TAP = join(ROOT, 'dist/tailfin-tap.cjs');
export const HOSTS = fileURLToPath(new URL('hosts/', import.meta.url));

export interface Recorded {
  readonly ended: Ended;
  /** Of all writers, in the order of each. */
  readonly lines: Line[];
  /** One text per segment file. */
  readonly files: string[];
  readonly folder: string;
  of(type: string): Line[];
}

export interface HostOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of node, before the script. */
  readonly node?: readonly string[];
  readonly args?: readonly string[];
  /** How the tap is loaded; null: not at all. */
  readonly load?: '--require' | '--import' | null;
  /** Loaded by NODE_OPTIONS too, before or after the tap. */
  readonly before?: string;
  readonly after?: string;
}

export async function runHost(t: TestContext, script: string, options: HostOptions = {}): Promise<Recorded> {
  await ensureBuilt();
  const { env = {}, node = [], args = [], load = '--require', before, after } = options;
  const folder = join(tempFolder(t), 'events');
  const preload = [
    ...(before === undefined ? [] : [`--require ${before}`]),
    ...(load === null ? [] : [`${load} ${TAP}`]),
    ...(after === undefined ? [] : [`--require ${after}`]),
  ];
  const path = script.startsWith('/') ? script : join(HOSTS, script);
  const { ended } = start(process.execPath, [...node, path, ...args], {
    env: { NODE_OPTIONS: preload.join(' '), TAILFIN_TAP_DIR: folder, ...env },
  });
  const done = await ended;
  return { ended: done, ...readLines(folder), folder };
}

export function readLines(folder: string): Pick<Recorded, 'lines' | 'files' | 'of'> {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const files = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  const lines = files.flatMap((text) => text.trimEnd().split('\n').map(checked));
  return { files, lines, of: (type) => lines.filter((line) => line.type === type) };
}

/** What the host printed, as JSON. */
export function seenBy({ ended }: Recorded): unknown {
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  return JSON.parse(ended.stdout.trim().split('\n').at(-1) as string);
}
