/**
 * The file calls of the writer, taken from Node when the tap is loaded: what a host does to `fs` later (mocks, instrumentation)
 * neither sees nor disturbs them. It decides nothing; errors go to the caller as they are.
 */
import * as fs from 'node:fs';

const { open, fchmod, write, fstat, close, readdir, lstat, unlink, mkdir, chmod, read } = fs;
const { openSync, fchmodSync, writeSync, fstatSync, closeSync, readdirSync, lstatSync } = fs;
const { unlinkSync, mkdirSync, chmodSync, readSync, constants } = fs;

export interface FileFacts {
  readonly dev: number;
  readonly ino: number;
  readonly links: number;
}
export interface NamedFile {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

export interface WriterFiles {
  /** A new file that everybody may read. */
  create(path: string): Promise<number>;
  write(fd: number, bytes: Uint8Array, position: number): Promise<number>;
  facts(fd: number): Promise<FileFacts>;
  close(fd: number): Promise<void>;
  /** The last folder of the path alone, for every user to write in. */
  makeFolder(path: string): Promise<void>;
  list(folder: string): Promise<readonly string[]>;
  /** undefined: no regular file. */
  look(folder: string, name: string): Promise<NamedFile | undefined>;
  /** The last bytes of a file. */
  tail(path: string, size: number, length: number): Promise<string>;
  remove(path: string): Promise<void>;
  createNow(path: string): number;
  writeNow(fd: number, bytes: Uint8Array, position: number): number;
  factsNow(fd: number): FileFacts;
  closeNow(fd: number): void;
  makeFolderNow(path: string): void;
  listNow(folder: string): readonly string[];
  lookNow(folder: string, name: string): NamedFile | undefined;
  tailNow(path: string, size: number, length: number): string;
  removeNow(path: string): void;
}

type Done<T> = (error: Error | null, value?: T) => void;
const call = <T>(run: (done: Done<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => run((error, value) => (error ? reject(error) : resolve(value as T))));

// Not O_APPEND: every write states its place, so that the same bytes may be written twice. O_EXCL follows no link.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** The sidecar runs as another user. */
const MODE = 0o644;
/** Sticky: any user may add segments, none may remove those of another. */
export const FOLDER_MODE = 0o1777;

const nameFile = (name: string, stats: fs.Stats): NamedFile | undefined =>
  stats.isFile() ? { name, size: stats.size, modifiedMs: stats.mtimeMs } : undefined;
const factsOf = (stats: fs.Stats): FileFacts => ({ dev: stats.dev, ino: stats.ino, links: stats.nlink });

/** Another process was quicker. */
function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

export const nodeFiles: WriterFiles = {
  async create(path) {
    const fd = await call<number>((done) => open(path, FLAGS, MODE, done));
    // The umask of the host took bits away.
    await call<void>((done) => fchmod(fd, MODE, done)).catch(() => {});
    return fd;
  },
  write: (fd, bytes, position) => call((done) => write(fd, bytes, 0, bytes.length, position, done)),
  facts: async (fd) => factsOf(await call<fs.Stats>((done) => fstat(fd, done))),
  close: (fd) => call((done) => close(fd, done)),
  async makeFolder(path) {
    await call<void>((done) => mkdir(path, FOLDER_MODE, done)).catch(unlessThere);
    await call<void>((done) => chmod(path, FOLDER_MODE, done)).catch(() => {});
  },
  list: (folder) => call<string[]>((done) => readdir(folder, done)),
  async look(folder, name) {
    const stats = await call<fs.Stats>((done) => lstat(`${folder}/${name}`, done)).catch(() => undefined);
    return stats && nameFile(name, stats);
  },
  async tail(path, size, length) {
    const fd = await call<number>((done) => open(path, READ, done));
    try {
      const bytes = Buffer.alloc(Math.min(size, length));
      const count = await call<number>((done) => read(fd, bytes, 0, bytes.length, size - bytes.length, done));
      return bytes.toString('latin1', 0, count);
    } finally {
      await call<void>((done) => close(fd, done));
    }
  },
  remove: (path) => call((done) => unlink(path, done)),
  createNow(path) {
    const fd = openSync(path, FLAGS, MODE);
    try {
      fchmodSync(fd, MODE);
    } catch {
      // As above: then the mode is what the umask left.
    }
    return fd;
  },
  writeNow: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
  factsNow: (fd) => factsOf(fstatSync(fd)),
  closeNow: (fd) => closeSync(fd),
  makeFolderNow(path) {
    try {
      mkdirSync(path, FOLDER_MODE);
      chmodSync(path, FOLDER_MODE);
    } catch (error) {
      unlessThere(error);
    }
  },
  listNow: (folder) => readdirSync(folder),
  lookNow(folder, name) {
    try {
      return nameFile(name, lstatSync(`${folder}/${name}`));
    } catch {
      return undefined;
    }
  },
  tailNow(path, size, length) {
    const fd = openSync(path, READ);
    try {
      const bytes = Buffer.alloc(Math.min(size, length));
      return bytes.toString('latin1', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(fd);
    }
  },
  removeNow: (path) => unlinkSync(path),
};
