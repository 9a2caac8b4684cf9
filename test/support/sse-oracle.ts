/**
 * An event stream read the plain way, rule by rule of the WHATWG text, from the whole of it: the second opinion of the SSE scanner
 * tests. Works on bytes as Latin-1 text, so that invalid UTF-8 stays what it is.
 */

export interface PlainEvent {
  readonly type: string;
  /** Bytes of the data as Latin-1 text. */
  readonly data: string;
}

export interface PlainStream {
  readonly events: readonly PlainEvent[];
  /** Blocks that set an id which is not empty. */
  readonly ids: number;
  readonly lastId: string | undefined;
  /** The bytes stop inside a line, or behind lines of an event without their blank line. */
  readonly isOpen: boolean;
}

export function readStream(bytes: Uint8Array): PlainStream {
  let text = Buffer.from(bytes).toString('latin1');
  if (text.startsWith('\xef\xbb\xbf')) text = text.slice(3);
  const lines = text.split(/\r\n|\n|\r/);
  const rest = lines.pop() as string;
  const events: PlainEvent[] = [];
  let ids = 0;
  let lastId: string | undefined;
  let data: string[] = [];
  let type = '';
  let id: string | undefined;
  let isOpen = false;
  for (const line of lines) {
    if (line === '') {
      if (id !== undefined && id !== '') [ids, lastId] = [ids + 1, id];
      if (data.length > 0) events.push({ type, data: data.join('\n') });
      [data, type, id, isOpen] = [[], '', undefined, false];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    if (['data', 'event', 'id', 'retry'].includes(field)) isOpen = true;
  }
  return { events, ids, lastId, isOpen: isOpen || rest !== '' };
}
