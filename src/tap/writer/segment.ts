/**
 * One segment file: bytes go to stated places, so that what a write in flight may or may not have written can be written again
 * by the last synchronous one. It decides when its descriptor no longer leads to its file. It must not decide when to write, rotate
 * or give up.
 */
import type { FileFacts, WriterFiles } from './files.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

export interface Segment {
  readonly id: string;
  readonly name: string;
  /** Its bytes, those included that are still to be written. */
  readonly size: number;
  /** Events in it: whole lines, `segment` and `end` not among them. */
  readonly events: number;
  readonly isEnded: boolean;
  /** Bytes that are not written yet. */
  readonly rest: number;
  /** Takes whole lines, once the former are written. */
  put(lines: Buffer, what: 'head' | 'events' | 'end'): void;
  /** Writes what is left. @throws where a call fails; what was written until then stays written. */
  flush(): Promise<void>;
  flushNow(): void;
  /** Of the lines put last those that are not whole in the file. */
  unsent(): Buffer;
  /** Renews the time of the file: its writer lives. */
  touch(): Promise<void>;
  /** gone: its name was removed. stolen: the host closed the descriptor, and the number may be that of another file. */
  state(): Promise<'fine' | 'gone' | 'stolen'>;
  stateNow(): 'fine' | 'gone' | 'stolen';
  close(): Promise<void>;
  closeNow(): void;
}

export interface SegmentOptions {
  readonly files: WriterFiles;
  readonly fd: number;
  readonly facts: FileFacts;
  readonly id: string;
  readonly name: string;
}

export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** A call that writes nothing and says so would be tried for ever. */
function some(count: number): number {
  if (count > 0) return count;
  throw new Error('nothing was written');
}

export function createSegment({ files, fd, facts, id, name }: SegmentOptions): Segment {
  /** What was put last, and how much of it is in the file. */
  let latest: Buffer = NOTHING;
  let isEvents = false;
  let sent = 0;
  /** Where `latest` begins in the file. */
  let base = 0;
  let events = 0;
  let isEnded = false;

  const judge = (now: FileFacts): 'fine' | 'gone' | 'stolen' => {
    if (now.dev !== facts.dev || now.ino !== facts.ino) return 'stolen';
    return now.links === 0 ? 'gone' : 'fine';
  };
  const judgeError = (error: unknown): 'stolen' => {
    if ((error as NodeJS.ErrnoException).code === 'EBADF') return 'stolen';
    throw error;
  };

  return {
    id,
    name,
    get size() {
      return base + latest.length;
    },
    get events() {
      return events;
    },
    get isEnded() {
      return isEnded;
    },
    get rest() {
      return latest.length - sent;
    },
    put(lines, what) {
      base += latest.length;
      latest = lines;
      sent = 0;
      isEvents = what === 'events';
      isEnded ||= what === 'end';
      if (isEvents) events += countLines(lines);
    },
    async flush() {
      const bytes = latest;
      while (bytes === latest && sent < bytes.length) {
        const from = sent;
        const count = some(await files.write(fd, bytes.subarray(from), base + from));
        // The last synchronous write may have overtaken this one.
        if (bytes === latest && sent === from) sent += count;
      }
    },
    flushNow() {
      while (sent < latest.length) sent += some(files.writeNow(fd, latest.subarray(sent), base + sent));
    },
    unsent() {
      if (!isEvents || sent === latest.length) return NOTHING;
      return latest.subarray(sent === 0 ? 0 : latest.lastIndexOf(NEWLINE, sent - 1) + 1);
    },
    async touch() {
      // The last byte again: unlike a change of times this needs no ownership, and a full disk allows it.
      const end = base + sent;
      if (end > 0) await files.write(fd, Buffer.of(sent > 0 ? (latest[sent - 1] as number) : NEWLINE), end - 1);
    },
    state: () => files.facts(fd).then(judge, judgeError),
    stateNow() {
      try {
        return judge(files.factsNow(fd));
      } catch (error) {
        return judgeError(error);
      }
    },
    close: () => files.close(fd),
    closeNow: () => files.closeNow(fd),
  };
}
