/**
 * The two files that hold the last two records. It decides which of them is the newest whole one, and writes the next record over the
 * other, in place: no rename and no new file, so that a full disk and a torn write leave the newest one as it was. It does not know
 * what a record says.
 *
 * A file: 64 bytes of head (magic, format, generation, length and CRC of the record, CRC of the head; behind that one mark of its
 * own), then the record, then zeros. A record counts once its head and all of its bytes agree.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { reasonOf } from '../../sources/system-error.ts';

export const SLOT_FORMAT = 1;
export const SLOT_FILES = ['checkpoint-a', 'checkpoint-b'] as const;
const MAGIC = Buffer.from('TAILFIN\n');
export const HEAD_BYTES = 64;
/** Of what the CRC of the head covers; behind it stand that CRC and the mark. */
const CHECKED_BYTES = 36;
const MARK_AT = 40;
/** Taken at once, so that a disk which is full later still takes the next record; a slot that is too small grows by this. */
const GROWTH_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

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
   * before it is written. @throws what the file system says; the newest record stays.
   */
  write(pieces: Iterable<Buffer>, taken: () => void): Promise<number>;
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

function headOf(generation: number, length: number, crc: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(SLOT_FORMAT, 8);
  head.writeBigUInt64LE(BigInt(generation), 12);
  head.writeBigUInt64LE(BigInt(length), 20);
  head.writeUInt32LE(crc, 28);
  head.writeUInt32LE(crc32(head.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return head;
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** `folder` is made where it is missing. Nothing is opened before it is needed, so that a folder that is put right is used again. */
export function createSlots(folder: string): Slots {
  const files: (FileHandle | undefined)[] = [undefined, undefined];
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  /** The slot that the next record goes to, and its generation. */
  let next = 0;
  let generation = 1;

  async function opened(slot: number): Promise<FileHandle> {
    const known = files[slot];
    if (known !== undefined) return known;
    await mkdir(folder, { recursive: true });
    const path = join(folder, SLOT_FILES[slot] as string);
    const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return open(path, 'wx+', 0o600);
    });
    files[slot] = file;
    return file;
  }

  /** Takes the room up to the next step, as zeros behind what is there: holes would have to be filled on a full disk. */
  async function grow(file: FileHandle, atLeast: number): Promise<void> {
    const { size } = await file.stat();
    const wanted = Math.ceil(atLeast / GROWTH_BYTES) * GROWTH_BYTES;
    piece.fill(0);
    for (let at = size; at < wanted; at += PIECE_BYTES)
      await writeAll(file, piece.subarray(0, Math.min(PIECE_BYTES, wanted - at)), at);
  }

  /** Pieces as they come are small; what is written is one buffer full. */
  async function writeRecord(file: FileHandle, pieces: Iterable<Buffer>, taken: () => void) {
    let length = 0;
    let crc = 0;
    let filled = 0;
    const flush = async (): Promise<void> => {
      const full = piece.subarray(0, filled);
      crc = crc32(full, crc);
      await writeAll(file, full, HEAD_BYTES + length);
      length += filled;
      filled = 0;
    };
    for (const bytes of pieces) {
      for (let from = 0; from < bytes.length; ) {
        const count = bytes.copy(piece, filled, from);
        from += count;
        filled += count;
        if (filled === PIECE_BYTES) await flush();
      }
    }
    taken();
    await flush();
    return { length, crc };
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
          if (found.every((other) => other.generation < (parsed as LoadedSlot).generation)) next = 1 - slot;
          found.push(parsed);
        }
      }
      found.sort((a, b) => b.generation - a.generation);
      generation = (found[0]?.generation ?? 0) + 1;
      return { found, problems };
    },
    async write(pieces, taken) {
      let isTaken = false;
      const takenOnce = (): void => {
        if (!isTaken) taken();
        isTaken = true;
      };
      try {
        const file = await opened(next);
        const { size } = await file.stat();
        if (size === 0) await grow(file, HEAD_BYTES);
        const { length, crc } = await writeRecord(file, pieces, takenOnce);
        await writeAll(file, headOf(generation, length, crc), 0);
        // What is behind the record costs the next one its safety, not this one.
        await grow(file, HEAD_BYTES + length).catch(() => {});
        await file.datasync();
        generation++;
        next = 1 - next;
        return length;
      } catch (error) {
        await files[next]?.close().catch(() => {});
        files[next] = undefined;
        throw error;
      } finally {
        takenOnce();
      }
    },
    async markExposed() {
      if (generation === 1) return;
      const file = await opened(1 - next);
      await writeAll(file, Buffer.from([1]), MARK_AT);
      await file.datasync();
    },
    async close() {
      for (const file of files) await file?.close().catch(() => {});
    },
  };
}
