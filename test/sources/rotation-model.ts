/**
 * What the files hold and have held, kept beside the real ones: which lines exist, which are gone for good, and so which ones a reader
 * must have delivered. It knows nothing of how the reader works, only when it looked and when its state was kept.
 */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { lineOf } from './driven-rig.ts';

interface Line {
  readonly n: number;
  /** Where it ends in its file; of a half line where it will end. */
  readonly end: number;
  readonly ts: number;
}

export interface ModelFile {
  /** Below the folder; undefined: it has no name any more. */
  name: string | undefined;
  /** Of its content now. */
  lines: Line[];
  size: number;
  /** The rest of a line that was begun. */
  rest: string;
  /** Its size when the reader last looked, and at the look before the kept state. */
  seen: number;
  seenKept: number;
}

/** Lines that are in no file any more. */
export interface Gone {
  readonly how: 'truncated' | 'removed';
  readonly file: ModelFile;
  readonly lines: readonly Line[];
}

export function createModel(folder: string, now: () => number) {
  const files: ModelFile[] = [];
  const gone: Gone[] = [];
  let written = 0;
  let names = 0;
  let linkedTo: string | undefined;
  let fd: { readonly file: ModelFile; readonly fd: number } | undefined;
  const path = (name: string) => `${folder}/${name}`;
  const at = (name: string) => files.find((file) => file.name === name);

  function text(file: ModelFile, count: number): string {
    let all = file.rest;
    file.size += file.rest.length;
    file.rest = '';
    for (let i = 0; i < count; i++) {
      const line = lineOf(written, now());
      file.size += line.length;
      file.lines.push({ n: written, end: file.size, ts: now() });
      written++;
      all += line;
    }
    return all;
  }

  function create(name: string): ModelFile {
    const file: ModelFile = { name, lines: [], size: 0, rest: '', seen: 0, seenKept: 0 };
    files.push(file);
    return file;
  }

  function lose(file: ModelFile, how: Gone['how']): void {
    gone.push({ how, file: { ...file }, lines: file.lines });
    if (how === 'removed') files.splice(files.indexOf(file), 1);
    else Object.assign(file, { lines: [], size: 0, rest: '', seen: 0, seenKept: 0 });
  }

  const model = {
    files,
    gone,
    written: () => written,
    at,
    append(name: string, count: number) {
      const file = at(name) ?? create(name);
      appendFileSync(path(name), text(file, count));
    },
    half(name: string) {
      const file = at(name) ?? create(name);
      if (file.rest !== '') return;
      const line = lineOf(written, now());
      const cut = 1 + (written % 5);
      // Half a line holds up nothing: whenever it is completed, it may be late.
      file.lines.push({ n: written++, end: file.size + line.length, ts: Number.POSITIVE_INFINITY });
      file.size += cut;
      file.rest = line.slice(cut);
      appendFileSync(path(name), line.slice(0, cut));
    },
    /** A new name that begins with this one. */
    rename(name: string, to: string) {
      const file = at(name);
      if (file === undefined) return;
      file.name = `${to}.${names++}`;
      renameSync(path(name), path(file.name));
    },
    /** Somebody holds it open for what `writeHeld` will write. */
    hold(name: string) {
      if (fd !== undefined || at(name) === undefined) return;
      fd = { file: at(name) as ModelFile, fd: openSync(path(name), 'a') };
    },
    writeHeld(count: number) {
      if (fd === undefined) return;
      if (files.includes(fd.file)) writeSync(fd.fd, text(fd.file, count));
      closeSync(fd.fd);
      fd = undefined;
    },
    truncate(name: string, count: number) {
      const file = at(name);
      if (file === undefined) return;
      lose(file, 'truncated');
      truncateSync(path(name));
      if (count > 0) appendFileSync(path(name), text(file, count));
    },
    remove(name: string) {
      const file = at(name);
      if (file === undefined) return;
      unlinkSync(path(name));
      lose(file, 'removed');
    },
    /** As an editor saves: the same content and `count` lines more, under the same name. */
    save(name: string, count: number) {
      const file = at(name);
      if (file === undefined) return;
      if (fd?.file === file) model.writeHeld(0); // it would write to the old version
      copyFileSync(path(name), path('tmp'));
      appendFileSync(path('tmp'), text(file, count));
      renameSync(path('tmp'), path(name));
    },
    /** Another file is renamed over this one. */
    replace(name: string, count: number) {
      const file = at(name);
      if (file === undefined) return;
      const fresh = create('tmp');
      writeFileSync(path('tmp'), text(fresh, count));
      renameSync(path('tmp'), path(name));
      fresh.name = name;
      lose(file, 'removed');
    },
    /** The link leads to this file from now on. */
    link(name: string, target: string) {
      if (!existsSync(path(target))) model.append(target, 1);
      symlinkSync(target, path('link.tmp'));
      renameSync(path('link.tmp'), path(name));
      linkedTo = target;
    },
    linked(count: number) {
      if (linkedTo !== undefined) model.append(linkedTo, count);
    },
    complete() {
      for (const file of files) if (file.rest !== '' && file.name !== undefined) model.append(file.name, 0);
    },
    looked() {
      for (const file of files) file.seen = file.size;
    },
    kept() {
      for (const file of files) file.seenKept = file.seen;
    },
    dropped() {
      for (const file of files) file.seen = file.seenKept;
      for (const { file } of gone) file.seen = file.seenKept;
    },
    /** Whole lines that are in some file. */
    present: (): Line[] => files.flatMap(({ lines, size }) => lines.filter(({ end }) => end <= size)),
    close() {
      if (fd !== undefined) closeSync(fd.fd);
    },
    dump: (): string =>
      files.map(({ name, size }) => `${name}(${size}): ${readFileSync(path(name as string))}`).join('\n'),
  };
  return model;
}
