/** Writers of events in this process and in children, folders of their own, and what is in the files afterwards. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { buildSync } from 'esbuild';
import { nodeFiles, type WriterFiles } from '../../../src/tap/writer/files.ts';
import { createWriter, type Writer, type WriterOptions } from '../../../src/tap/writer/writer.ts';
import { ROOT, type Running, type RunOptions, start } from '../../support/cli.ts';
import { until } from '../../support/until.ts';

export const NODE = process.env.TAILFIN_TEST_NODE ?? process.execPath;
/** Some user who is not root and owns nothing. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;

/** A folder that every user can enter, removed after the test. */
export function openFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-tap-')));
  chmodSync(folder, 0o1777);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface WrittenLine {
  readonly v: number;
  readonly type: string;
  readonly ts: number;
  readonly writer: string;
  readonly host?: string;
  readonly seq?: number;
  readonly [field: string]: unknown;
}

export interface WrittenFile {
  readonly name: string;
  readonly lines: readonly WrittenLine[];
  readonly isWhole: boolean;
}

/** All segments of a folder in the order of their numbers; every line parses. */
export function readSegments(folder: string): WrittenFile[] {
  const number = (name: string): number => Number(/-(\d+)\./.exec(name)?.[1]);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .sort((a, b) => number(a) - number(b))
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const lines = text.split('\n').filter((line) => line !== '');
      return { name, isWhole: text.endsWith('\n'), lines: lines.map((line) => JSON.parse(line) as WrittenLine) };
    });
}

export const isEvent = ({ type }: WrittenLine): boolean => type !== 'segment' && type !== 'end';
export const eventsIn = (files: readonly WrittenFile[]): WrittenLine[] =>
  files.flatMap(({ lines }) => lines.filter(isEvent));
export const dropsIn = (files: readonly WrittenFile[]): number =>
  eventsIn(files).reduce((sum, line) => sum + (line.type === 'gap' ? (line.dropped as number) : 0), 0);

/** Numbers go up by one from 0, in the order of files and lines. */
export function assertInOrder(files: readonly WrittenFile[]): void {
  assert.deepEqual(
    eventsIn(files).map(({ seq }) => seq),
    eventsIn(files).map((_, i) => i),
  );
}

/** A writer whose timings are short. */
export function testWriter(t: TestContext, folder: string, options: Partial<WriterOptions> = {}): Writer {
  const writer = createWriter({ folder, host: 'h', flushMs: 5, complain: () => {}, ...options });
  t.after(() => writer.close());
  return writer;
}

export const idle = (writer: Writer, timeoutMs = 20_000): Promise<void> =>
  until(() => writer.stats().buffered === 0, { timeoutMs, everyMs: 2, what: () => JSON.stringify(writer.stats()) });

export const emitMany = (writer: Writer, from: number, count: number): void => {
  for (let n = from; n < from + count; n++) writer.emit('close', { exchange: `x${n}`, how: 'eof', bytes: n });
};

export const failing = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });
/** The file calls with some of them replaced. */
export const filesWith = (replaced: Partial<WriterFiles>): WriterFiles => ({ ...nodeFiles, ...replaced });

let bundle: string | undefined;
/** The writer as one CommonJS file that every user can load, made once for a test file. */
function writerBundle(): string {
  if (bundle !== undefined) return bundle;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-writer-')));
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  bundle = join(folder, 'writer.cjs');
  buildSync({
    stdin: {
      contents: `export * from './writer/writer.ts'; export * from './digest.ts'; export * from './key.ts';
        export * from './one-line.ts';`,
      resolveDir: join(ROOT, 'src/tap'),
    },
    ...{ outfile: bundle, bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' },
  });
  return bundle;
}

/**
 * A process of Node that runs `script` with `tap` (everything of the writer), `folder`, `emit(n)` and `writer()` in reach. The
 * script is CommonJS.
 */
export function startHost(folder: string, script: string, options: RunOptions & { nodeArgs?: string[] } = {}): Running {
  const { nodeArgs = [], ...rest } = options;
  const prelude = `
    const tap = require(${JSON.stringify(writerBundle())});
    const folder = ${JSON.stringify(folder)};
    const writer = (options) => tap.createWriter({ folder, host: 'h', ...options });
    const emit = (w, n) => w.emit('close', { exchange: 'x' + n, how: 'eof', bytes: n });
  `;
  const file = join(mkdtempSync(join(writerBundle(), '..', 'host-')), 'host.cjs');
  chmodSync(join(file, '..'), 0o755);
  writeFileSync(file, prelude + script);
  return start(NODE, [...nodeArgs, file], { cwd: '/', ...rest });
}
