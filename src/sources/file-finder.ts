/**
 * Finds files by their inode in a folder, under whatever name: those that were renamed to one that no pattern matches, while
 * nobody held them open. It must not open or judge a file.
 */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileIdentity, identityOf, inodeKey, sameFile } from './file-identity.ts';
import { COMPRESSED } from './glob-scan.ts';

/** The paths of those of `wanted` that are still in the folder they were in, by inode. */
export function findByInode(
  wanted: readonly { readonly identity: FileIdentity; readonly name: string }[],
  unstable: ReadonlySet<string>,
): Map<string, string> {
  const found = new Map<string, string>();
  const byFolder = new Map<string, Map<string, FileIdentity>>();
  for (const { identity, name } of wanted) {
    const folder = dirname(name);
    const inodes = byFolder.get(folder) ?? new Map<string, FileIdentity>();
    byFolder.set(folder, inodes.set(inodeKey(identity), identity));
  }
  for (const [folder, inodes] of byFolder) {
    for (const path of filesIn(folder)) {
      const identity = identityAt(path);
      const match = identity && inodes.get(inodeKey(identity));
      if (match && sameFile(match, identity, unstable)) found.set(inodeKey(match), path);
    }
  }
  return found;
}

function filesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !COMPRESSED.test(entry.name))
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

function identityAt(path: string): FileIdentity | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}
