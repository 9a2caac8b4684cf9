/**
 * Input that can be read once only (stdin, a pipe), copied to a temporary file for commands that read twice. Only the owner can read
 * the copy; `remove` deletes it. Regular files are left where they are.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RuntimeFailure, reasonOf } from './exit.ts';

export interface Spool {
  /** What to read in the place of an input. */
  readonly copies: ReadonlyMap<string, string>;
  remove(): void;
}

/** A file that is not there, or a folder, is for the reader to complain about. */
function isStream(path: string): boolean {
  if (path === '-') return true;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFIFO() || stat.isCharacterDevice() || stat.isSocket());
}

/** @throws RuntimeFailure when an input cannot be copied. */
export async function spool(files: readonly string[]): Promise<Spool> {
  const copies = new Map<string, string>();
  const streams = [...new Set(files)].filter(isStream);
  if (streams.length === 0) return { copies, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  for (const [i, path] of streams.entries()) {
    const copy = join(folder, `${i}.ndjson`);
    try {
      const from = path === '-' ? process.stdin : createReadStream(path);
      await pipeline(from, createWriteStream(copy, { mode: 0o600 }));
    } catch (error) {
      remove();
      throw new RuntimeFailure(`cannot copy ${path === '-' ? 'stdin' : path} to ${folder}: ${reasonOf(error)}`);
    }
    copies.set(path, copy);
  }
  return { copies, remove };
}
