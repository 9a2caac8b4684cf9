/**
 * Globs to paths. It names everything that a pattern matches, whatever it is, so that a FIFO or a dangling link in the place of
 * an event file is seen and reported; it must not open or judge a path. Two rules of its own: a compressed rotation is never a
 * match (its bytes were read before), and a bare `*` or `**` at the end of a pattern asks for files, not for folders.
 */
import { type Dirent, readdir, realpath, type Stats, stat } from 'node:fs';
import { resolve } from 'node:path';
import { type GlobOptions, glob } from 'tinyglobby';

export interface Listing {
  readonly paths: readonly string[];
  /** The folders that were listed. */
  readonly folders: ReadonlySet<string>;
  /** The folders that could not be listed, a missing one (ENOENT) only where a pattern names it. */
  readonly errors: ReadonlyMap<string, NodeJS.ErrnoException>;
}

const MAGIC = /[*?[\]{}()!+@|\\]/;
export const COMPRESSED = /\.(gz|bz2|xz|zst|zip)$/;

interface Pattern {
  readonly base: string;
  readonly rest: string;
  readonly onlyFiles: boolean;
}

function parse(pattern: string): Pattern {
  const parts = resolve(pattern).split('/').slice(1);
  const magic = parts.findIndex((part) => MAGIC.test(part));
  const at = magic === -1 ? parts.length - 1 : magic;
  return {
    base: `/${parts.slice(0, at).join('/')}`,
    rest: parts.slice(at).join('/'),
    onlyFiles: /^\*+$/.test(parts.at(-1) ?? ''),
  };
}

// The walker behind tinyglobby passes on files, folders and links that lead somewhere. These three calls make a file of the rest.
const likeFile = (entry: Dirent): Dirent =>
  entry.isDirectory() || entry.isSymbolicLink() ? entry : Object.create(entry, { isFile: { value: () => true } });
const notFolder = { isDirectory: () => false } as Stats;

function walkerCalls(onFolder: (path: string, error: NodeJS.ErrnoException | null) => void): GlobOptions['fs'] {
  type Done<T> = (error: Error | null, value?: T) => void;
  const calls = {
    readdir(path: string, options: { withFileTypes: true }, done: Done<Dirent[]>) {
      readdir(path, options, (error, entries) => {
        onFolder(path === '/' ? path : path.replace(/\/$/, ''), error);
        done(null, entries?.map(likeFile) ?? []);
      });
    },
    realpath(path: string, done: Done<string>) {
      realpath(path, (error, target) => done(null, error ? path : target));
    },
    stat(path: string, done: Done<Stats>) {
      stat(path, (error, stats) => done(null, error ? notFolder : stats));
    },
  };
  return calls as unknown as GlobOptions['fs'];
}

/** The returned function looks once. */
export function createGlobScan(globs: readonly string[]): () => Promise<Listing> {
  const patterns = globs.map(parse);
  return async () => {
    const paths = new Set<string>();
    const folders = new Set<string>();
    const errors = new Map<string, NodeJS.ErrnoException>();
    for (const { base, rest, onlyFiles } of patterns) {
      const fs = walkerCalls((path, error) => {
        if (error === null) folders.add(path);
        else if (error.code !== 'ENOENT' || path === base) errors.set(path, error);
      });
      const options = { cwd: base, absolute: true, expandDirectories: false, onlyFiles, ...(fs && { fs }) };
      for (const path of await glob([rest], options)) {
        if (!COMPRESSED.test(path)) paths.add(path.replace(/\/$/, ''));
      }
    }
    return { paths: [...paths].sort(), folders, errors };
  };
}
