/**
 * Input files of an offline command that are given twice: every event in them would count twice, and as a retry of itself. It must
 * not open a file, nor complain about one that is not there: that is the reader's.
 */
import { fstatSync, statSync } from 'node:fs';
import { inodeKey } from '../sources/file-identity.ts';
import { ConfigError } from './config-merge.ts';

function keyOf(path: string): string {
  try {
    const stats = path === '-' ? fstatSync(0, { bigint: true }) : statSync(path, { bigint: true });
    return inodeKey({ dev: String(stats.dev), ino: String(stats.ino) });
  } catch {
    return path;
  }
}

/** By device and inode: links and other spellings of a name are found too. @throws ConfigError that names both. */
export function refuseSameInput(files: readonly string[]): void {
  const first = new Map<string, string>();
  const problems: string[] = [];
  for (const path of files) {
    const key = keyOf(path);
    const before = first.get(key);
    if (before === undefined) first.set(key, path);
    else {
      const also = before === path ? 'given twice' : `the same file as ${before}`;
      problems.push(`${path === '-' ? '- (stdin)' : path}: ${also}; every event in it would count twice`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
