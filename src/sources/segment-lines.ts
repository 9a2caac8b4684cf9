/**
 * Recognises the first and the last line of a tap's segment file as the tap writes them (src/tap/writer): which segment it is, and
 * that nothing will follow. A hint about the file, not about events: the lines themselves go to the sink as any other.
 */
export interface SegmentId {
  readonly writer: string;
  readonly id: string;
  /** Its place among the segments of its writer. */
  readonly n: number;
}

const HEAD_START = '{"v":1,"type":"segment",';
const END_START = '{"v":1,"type":"end",';
/** The three letters after `{"v":1,"type":"`. */
const TYPE_AT = 15;
const MAX_HEAD = 4096;
/** What the tap calls its files: `<segment id>.ndjson`. */
const FILE_NAME = /^([0-9a-f]{32}-\d+)\.ndjson$/;

export function segmentOf(text: string): SegmentId | undefined {
  if (text.length > MAX_HEAD || !text.startsWith(HEAD_START)) return undefined;
  try {
    const { writer, id, n } = JSON.parse(text) as Record<string, unknown>;
    const isWhole = typeof writer === 'string' && typeof id === 'string' && Number.isSafeInteger(n);
    return isWhole && id !== '' ? { writer, id, n: n as number } : undefined;
  } catch {
    return undefined;
  }
}

export const isEndLine = (text: string): boolean => text.startsWith(END_START);

/** The same for a line in bytes, before anything else is asked of it: nearly every line is none. */
export const mayBeEndLine = (bytes: Uint8Array, start: number): boolean =>
  bytes[start + TYPE_AT] === 0x65 && bytes[start + TYPE_AT + 1] === 0x6e && bytes[start + TYPE_AT + 2] === 0x64;

/** The segment that a file of the tap is by its name. */
export const segmentName = (path: string): string | undefined =>
  FILE_NAME.exec(path.slice(path.lastIndexOf('/') + 1))?.[1];
