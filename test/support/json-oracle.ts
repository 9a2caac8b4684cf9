/** What JSON.parse says of bytes, as a scanner should: the second opinion of the scanner tests. */

const utf8 = new TextDecoder();
const POSITION = /at position (\d+)/;

export interface Opinion {
  readonly state: 'empty' | 'complete' | 'cut' | 'malformed';
  /** Byte offset of the error, where the engine names one before the end, and all bytes up to there are valid UTF-8. */
  readonly at: number | undefined;
  readonly value: unknown;
}

const CUT: Opinion = { state: 'cut', at: undefined, value: undefined };

export function judge(bytes: Uint8Array): Opinion {
  // Bytes that stop inside a byte order mark: the engine sees a strange character, a reader knows that more was to come.
  if (bytes.length < 3 && bytes[0] === 0xef && (bytes.length === 1 || bytes[1] === 0xbb)) return CUT;
  const text = utf8.decode(bytes);
  try {
    return { state: 'complete', at: undefined, value: JSON.parse(text) };
  } catch (error) {
    if (text.trim() === '' && /^[ \t\r\n]*$/.test(text)) return { state: 'empty', at: undefined, value: undefined };
    const { message } = error as SyntaxError;
    const position = POSITION.exec(message)?.[1];
    const isAtEnd = message.startsWith('Unexpected end') || (position !== undefined && Number(position) >= text.length);
    const at = isAtEnd || position === undefined ? undefined : offsetOf(Number(position), text, bytes);
    return { state: isAtEnd ? 'cut' : 'malformed', at, value: undefined };
  }
}

function offsetOf(position: number, text: string, bytes: Uint8Array): number | undefined {
  const before = text.slice(0, position);
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return before.includes('\ufffd') ? undefined : mark + Buffer.byteLength(before);
}
