/**
 * The two files that hold the last two records. It decides which of them is the newest whole one, and writes the next record over the
 * other, in place: no rename and no new file, so that a full disk and a torn write leave the newest one as it was. It does not know
 * what a record says.
 *
 * A file: 64 bytes of head (magic, format, generation, length and CRC of the record, CRC of the head; behind that one mark of its
 * own), then the record, then zeros. A record counts once its head and all of its bytes agree.
 */
import { type FileHandle, mkdir, open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { createTurns } from '../../sources/next-turn.ts';
import { reasonOf } from '../../sources/system-error.ts';
import { createPatience, SlowDisk } from './patience.ts';

export const SLOT_FORMAT = 1;
export const SLOT_FILES = ['checkpoint-a', 'checkpoint-b'] as const;
const MAGIC = Buffer.from('TAILFIN\n');
export const HEAD_BYTES = 64;
/** Of what the CRC of the head covers; behind it stand that CRC and the mark. */
const CHECKED_BYTES = 36;
const MARK_AT = 40;
/** Taken at once, so that a disk which is full later still takes the next record; a slot that is too small grows by this. */
const GROWTH_BYTES = 4 * 1024 * 1024;
/** A record that fills more than this of a slot is followed by more room in both. */
const FULL_PART = 3 / 4;
const PIECE_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(64 * 1024);

export interface LoadedSlot {
  readonly generation: number;
  readonly record: Buffer;
  /** Newer numbers than those of this record were shown. */
  readonly isExposed: boolean;
}

export interface Slots {
  /** Whole records, newest first, and why a slot that holds something has none. Both empty: nothing was ever written here. */
  load(): Promise<{ readonly found: readonly LoadedSlot[]; readonly problems: readonly string[] }>;
  /**
   * Writes the next record and returns its bytes once it is on the disk. `taken` is called when the last piece was taken, which is
   * before it is written. `isExposed`: newer numbers were shown already. @throws what the file system says, SlowDisk where it says
   * nothing; the newest record stays.
   */
  write(pieces: Iterable<Buffer>, taken: () => void, isExposed?: boolean): Promise<number>;
  /**
   * Has both slots made and as large as the next records may need, so that these have only their own bytes to wait for. Not beside
   * `write`. @throws as `write`; no record is the worse for it.
   */
  makeRoom(): Promise<void>;
  /** Marks the newest record: newer numbers than its own are about to be shown. @throws */
  markExposed(): Promise<void>;
  close(): Promise<void>;
}

type Parsed = LoadedSlot | 'empty' | { readonly problem: string };

function parse(bytes: Buffer): Parsed {
  if (bytes.subarray(0, HEAD_BYTES).every((byte) => byte === 0)) return 'empty';
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    return { problem: 'not a checkpoint' };
  const format = bytes.readUInt32LE(8);
  if (format !== SLOT_FORMAT) return { problem: `format ${format}, this version reads ${SLOT_FORMAT}` };
  if (crc32(bytes.subarray(0, CHECKED_BYTES)) !== bytes.readUInt32LE(CHECKED_BYTES))
    return { problem: 'its head is damaged' };
  const length = Number(bytes.readBigUInt64LE(20));
  if (bytes.length < HEAD_BYTES + length) return { problem: 'it is cut short' };
  const record = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
  if (crc32(record) !== bytes.readUInt32LE(28)) return { problem: 'its record is damaged or was not written whole' };
  return { generation: Number(bytes.readBigUInt64LE(12)), record, isExposed: bytes[MARK_AT] !== 0 };
}

function headOf(generation: number, length: number, crc: number, isExposed: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(SLOT_FORMAT, 8);
  head.writeBigUInt64LE(BigInt(generation), 12);
  head.writeBigUInt64LE(BigInt(length), 20);
  head.writeUInt32LE(crc, 28);
  head.writeUInt32LE(crc32(head.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  head[MARK_AT] = isExposed ? 1 : 0;
  return head;
}

export interface SlotsOptions {
  /** A clock that never jumps, ms. */
  readonly elapsed?: () => number;
  readonly open?: (path: string, flags: string, mode?: number) => Promise<FileHandle>;
}

/** `folder` is made where it is missing. Nothing is opened before it is needed, so that a folder that is put right is used again. */
export function createSlots(folder: string, options: SlotsOptions = {}): Slots {
  const { elapsed = () => performance.now(), open = openFile } = options;
  const files: (FileHandle | undefined)[] = [undefined, undefined];
  /** Of each file that is open. */
  const sizes = [0, 0];
  let largest = 0;
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  /** The slot that the next record goes to, and its generation. */
  let next = 0;
  let generation = 1;
  /** A record that was given up may have been whole by then, or be so later. */
  let isLoose = false;
  let owesMark = false;
  const patience = createPatience(elapsed, () => {
    if (owesMark) mark().catch(() => {});
  });

  async function opened(slot: number): Promise<FileHandle> {
    const known = files[slot];
    if (known !== undefined) return known;
    const path = join(folder, SLOT_FILES[slot] as string);
    const opening = mkdir(folder, { recursive: true })
      .then(() => open(path, 'r+'))
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return open(path, 'wx+', 0o600);
      });
    const file = await patience.wait(opening);
    sizes[slot] = (await patience.wait(file.stat())).size;
    files[slot] = file;
    return file;
  }

  /** What comes of the next try may be another file. */
  function forget(slot: number): void {
    files[slot]?.close().catch(() => {});
    files[slot] = undefined;
  }

  async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
      done += bytesWritten;
    }
  }

  async function mark(): Promise<void> {
    owesMark = false;
    patience.begin();
    for (const slot of [...(generation > 1 ? [1 - next] : []), ...(isLoose ? [next] : [])]) {
      const file = await opened(slot);
      await patience.wait(writeAll(file, Buffer.from([1]), MARK_AT));
      await patience.wait(file.datasync());
    }
  }

  /** Zeros behind what is there, on the disk: holes would have to be filled on a full one. All at once, not a turn of the loop each. */
  async function grow(file: FileHandle, from: number, to: number): Promise<void> {
    for (let at = from; at < to; ) {
      const zeros: Buffer[] = [];
      for (let left = to - at; left > 0; left -= ZEROS.length) zeros.push(ZEROS.subarray(0, left));
      at += (await patience.wait(file.writev(zeros, at))).bytesWritten;
    }
    await patience.wait(file.datasync());
  }

  /** Pieces as they come are small; what is written is one buffer full. */
  async function writeRecord(file: FileHandle, pieces: Iterable<Buffer>, taken: () => void, isExposed: boolean) {
    let length = 0;
    let crc = 0;
    let filled = 0;
    const flush = async (): Promise<void> => {
      const full = piece.subarray(0, filled);
      crc = crc32(full, crc);
      await patience.wait(writeAll(file, full, HEAD_BYTES + length));
      length += filled;
      filled = 0;
    };
    const turn = createTurns(elapsed);
    for (const bytes of pieces) {
      for (let from = 0; from < bytes.length; ) {
        const count = bytes.copy(piece, filled, from);
        from += count;
        filled += count;
        if (filled === PIECE_BYTES) await flush();
      }
      await turn();
    }
    taken();
    const rest = piece.subarray(0, filled);
    const head = headOf(generation, length + filled, crc32(rest, crc), isExposed);
    isLoose = true;
    // In any order: what counts is that they agree. Both have ended before either is tried again.
    const written = await patience.wait(
      Promise.allSettled([writeAll(file, rest, HEAD_BYTES + length), writeAll(file, head, 0)]),
    );
    for (const each of written) if (each.status === 'rejected') throw each.reason;
    return length + filled;
  }

  return {
    async load() {
      const found: LoadedSlot[] = [];
      const problems: string[] = [];
      for (const [slot, name] of SLOT_FILES.entries()) {
        let parsed: Parsed;
        try {
          const file = await open(join(folder, name), 'r');
          parsed = await file
            .readFile()
            .then(parse)
            .finally(() => file.close());
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(`${name}: ${reasonOf(error)}`);
          continue;
        }
        if (parsed === 'empty') continue;
        if ('problem' in parsed) problems.push(`${name}: ${parsed.problem}`);
        else {
          largest = Math.max(largest, parsed.record.length);
          if (found.every((other) => other.generation < (parsed as LoadedSlot).generation)) next = 1 - slot;
          found.push(parsed);
        }
      }
      found.sort((a, b) => b.generation - a.generation);
      generation = (found[0]?.generation ?? 0) + 1;
      return { found, problems };
    },
    async write(pieces, taken, isExposed = false) {
      let isTaken = false;
      const takenOnce = (): void => {
        if (!isTaken) taken();
        isTaken = true;
      };
      try {
        patience.begin();
        const file = await opened(next);
        const length = await writeRecord(file, pieces, takenOnce, isExposed);
        await patience.wait(file.datasync());
        sizes[next] = Math.max(sizes[next] as number, HEAD_BYTES + length);
        largest = Math.max(largest, length);
        isLoose = false;
        owesMark = false;
        generation++;
        next = 1 - next;
        return length;
      } catch (error) {
        forget(next);
        throw error;
      } finally {
        takenOnce();
      }
    },
    async makeRoom() {
      const wanted = Math.ceil((HEAD_BYTES + largest) / FULL_PART / GROWTH_BYTES) * GROWTH_BYTES;
      if (files.every((file, slot) => file !== undefined && (sizes[slot] as number) >= wanted)) return;
      patience.begin();
      // The one that comes next is first.
      for (const slot of [next, 1 - next])
        try {
          const file = await opened(slot);
          if ((sizes[slot] as number) < wanted) await grow(file, sizes[slot] as number, wanted);
          sizes[slot] = Math.max(sizes[slot] as number, wanted);
        } catch (error) {
          forget(slot);
          throw error;
        }
    },
    async markExposed() {
      try {
        await mark();
      } catch (error) {
        owesMark = error instanceof SlowDisk;
        throw error;
      }
    },
    async close() {
      try {
        patience.begin();
        for (const file of files) if (file !== undefined) await patience.wait(file.close());
      } catch {
        // Nobody needs it any more.
      }
    },
  };
}
