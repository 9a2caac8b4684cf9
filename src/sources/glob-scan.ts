/**
 * Globs to paths. It names everything that a pattern matches, whatever it is, so that a FIFO or a dangling link in the place of
 * an event file is seen and reported; it must not open or judge a path. Two rules of its own: a compressed rotation is never a
 * match (its bytes were read before), and a bare `*` or `**` at the end of a pattern asks for files, not for folders.
 */
import { type Dirent, readdir, realpath, type Stats, stat, statSync } from 'node:fs';
import { readdir as list } from 'node:fs/promises';
import { resolve } from 'node:path';
import picomatch from 'picomatch';
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

interface Found {
  readonly paths: Set<string>;
  readonly folders: Set<string>;
  readonly errors: Map<string, NodeJS.ErrnoException>;
}

function leadsToFolder(path: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** One folder and no others, which is nearly always what is asked: a fifth of the walker's work. */
async function listFolder(
  base: string,
  patterns: readonly Pattern[],
  { paths, folders, errors }: Found,
): Promise<void> {
  try {
    const entries = await list(base, { withFileTypes: true });
    folders.add(base);
    for (const { rest, onlyFiles } of patterns) {
      const fits = picomatch(rest);
      for (const entry of entries) {
        if (!fits(entry.name)) continue;
        const path = `${base === '/' ? '' : base}/${entry.name}`;
        if (!onlyFiles || !leadsToFolder(path, entry)) paths.add(path);
      }
    }
  } catch (error) {
    errors.set(base, error as NodeJS.ErrnoException);
  }
}

async function walk({ base, rest, onlyFiles }: Pattern, { paths, folders, errors }: Found): Promise<void> {
  const fs = walkerCalls((path, error) => {
    if (error === null) folders.add(path);
    else if (error.code !== 'ENOENT' || path === base) errors.set(path, error);
  });
  const options = { cwd: base, absolute: true, expandDirectories: false, onlyFiles, ...(fs && { fs }) };
  for (const path of await glob([rest], options)) paths.add(path.replace(/\/$/, ''));
}

/** The returned function looks once. */
export function createGlobScan(globs: readonly string[]): () => Promise<Listing> {
  const patterns = globs.map(parse);
  const isFlat = ({ rest }: Pattern) => !/[/\\]|\*\*/.test(rest);
  const deep = patterns.filter((pattern) => !isFlat(pattern));
  const flat = new Map<string, Pattern[]>();
  for (const pattern of patterns) {
    if (isFlat(pattern)) flat.set(pattern.base, [...(flat.get(pattern.base) ?? []), pattern]);
  }
  return async () => {
    const found: Found = { paths: new Set(), folders: new Set(), errors: new Map() };
    for (const [base, wanted] of flat) await listFolder(base, wanted, found);
    for (const pattern of deep) await walk(pattern, found);
    const paths = [...found.paths].filter((path) => !COMPRESSED.test(path)).sort();
    return { ...found, paths };
  };
}
