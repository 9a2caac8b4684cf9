/**
 * What a name leads to, and what makes two looks the same file: device, inode and birth time, because ext4 hands a freed inode to
 * the next file at once. It must not decide by name or content: a rename keeps the file, a copy is another one.
 */
import { type BigIntStats, lstatSync, type Stats, statSync } from 'node:fs';
import { reasonOf } from './system-error.ts';

export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly birthtimeNs: string;
}

export const identityOf = (stats: BigIntStats): FileIdentity => ({
  dev: String(stats.dev),
  ino: String(stats.ino),
  birthtimeNs: String(stats.birthtimeNs),
});

/** Unique among files that exist at one time; the birth time tells a file from a dead one. */
export const inodeKey = (identity: Pick<FileIdentity, 'dev' | 'ino'>): string => `${identity.dev}:${identity.ino}`;

/**
 * Devices on which the birth time of an open file was seen to change: what stands in its place there is some other time, and only
 * content tells a file from a dead one.
 */
export type UnstableBirth = Set<string>;

export const sameFile = (a: FileIdentity, b: FileIdentity, unstable: ReadonlySet<string>): boolean =>
  a.dev === b.dev && a.ino === b.ino && (a.birthtimeNs === b.birthtimeNs || unstable.has(a.dev));

/** Of what is no regular file. */
export function kindOf(stats: Stats | BigIntStats): string {
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** Tells a link that leads nowhere from a name that is gone. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The regular file there; a text: why there is none; undefined: there is nothing. */
export function regularFileAt(path: string): BigIntStats | string | undefined {
  try {
    const stats = statSync(path, { bigint: true });
    return stats.isFile() ? stats : `it is ${kindOf(stats)}, not a regular file`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !isLink(path)) return undefined;
    return reasonOf(error);
  }
}
