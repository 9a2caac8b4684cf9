/** A tail over a folder of its own, with a sink that keeps all it is given. Timings are short; nothing here waits a fixed time. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { FileCount } from '../../src/sources/file-report.ts';
import { createFileTail, type FileTailOptions } from '../../src/sources/file-tail.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { until } from '../support/until.ts';

export interface Delivered {
  readonly text: string;
  readonly writer: string;
  readonly line: number;
  readonly offset: number;
}

export interface RigOptions extends Partial<Omit<FileTailOptions, 'globs'>> {
  /** Relative to the folder. */
  readonly globs?: readonly string[];
  readonly folder?: string;
  readonly onLine?: (text: string) => void;
}

export const tempFolder = (t: TestContext): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-tail-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const NOBODY = 65_534;

/** The superuser may read everything: become nobody until the test ends. False: not possible here. */
export function withoutPrivileges(t: TestContext): boolean {
  if (process.geteuid?.() !== 0) return true;
  try {
    process.seteuid?.(NOBODY);
  } catch {
    return false;
  }
  t.after(() => process.seteuid?.(0));
  return true;
}

/** Lines that say their number and their time. */
export const lines = (from: number, count: number, ts = 0): string =>
  Array.from({ length: count }, (_, i) => `{"n":${from + i},"ts":${ts}}\n`).join('');

export const append = (path: string, from: number, count: number, ts = 0): void =>
  appendFileSync(path, lines(from, count, ts));

export function createRig(t: TestContext, options: RigOptions = {}) {
  const { folder = tempFolder(t), globs = ['*.ndjson'], onLine, ...rest } = options;
  const delivered: Delivered[] = [];
  const rejects: string[] = [];
  const watermarks: number[] = [];
  const logs: string[] = [];
  const counts = new Map<FileCount, number>();
  const sink: LineSink = {
    line(text, origin, line, offset) {
      delivered.push({ text, writer: origin.writer, line, offset });
      onLine?.(text);
      return text.includes('"ts"') ? (JSON.parse(text) as { ts: number }).ts : { rejected: 'missing_field' };
    },
    reject: (reason, _, line, offset) => void rejects.push(`${reason} ${line} ${offset}`),
    invalidUtf8: () => {},
    advance: (_, watermark) => void watermarks.push(watermark),
  };
  const tail = createFileTail({
    name: 'events',
    host: 'app',
    globs: globs.map((glob) => join(folder, glob)),
    from: 'beginning',
    maxLineBytes: 1024 * 1024,
    pollMs: 20,
    graceMs: 60_000,
    renamedGraceMs: rest.graceMs ?? 60_000,
    log: (level, message, kind) => void (level !== 'debug' && !kind.startsWith('line_') && logs.push(message)),
    count: (what, amount) => void counts.set(what, (counts.get(what) ?? 0) + amount),
    ...rest,
  });
  const numbers = () => delivered.map(({ text }) => (JSON.parse(text) as { n: number }).n).sort((a, b) => a - b);
  let stop = async () => {};

  const rig = {
    folder,
    tail,
    sink,
    delivered,
    rejects,
    watermarks,
    logs,
    counted: (what: FileCount) => counts.get(what) ?? 0,
    path: (name: string) => join(folder, name),
    start() {
      const control = new AbortController();
      const run = tail.run(sink, control.signal);
      stop = async () => {
        control.abort();
        await run;
      };
      return rig;
    },
    stop: () => stop(),
    drain: () => tail.drain(sink, 10_000),
    status: () => tail.status(),
    until: (condition: () => boolean, what: string) =>
      until(condition, {
        what: () => `${what}; ${JSON.stringify({ ...tail.status(), count: delivered.length, rejects, logs })}`,
      }),
    /** Waits until as many lines came, then wants each of 0..count-1 exactly once. */
    async untilOnce(count: number) {
      await rig.until(() => delivered.length >= count, `${count} lines`);
      assert.deepEqual(
        numbers(),
        Array.from({ length: count }, (_, i) => i),
      );
    },
    /** Waits until the tail has looked at its files again, twice: what was there before was seen. */
    async untilLooked() {
      const seen = watermarks.length;
      await rig.until(() => watermarks.length > seen + 2, 'another look');
    },
  };
  t.after(async () => {
    await stop();
    await tail.drain(sink, 0);
  });
  return rig;
}

/** Descriptors of this process that lead into the folder. */
export const openDescriptors = (folder: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // the descriptor of the listing itself
    }
  }).length;
