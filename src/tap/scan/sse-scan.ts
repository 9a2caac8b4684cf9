/**
 * Follows a text/event-stream by its bytes, as the WHATWG rules read it: counts events and ids, hands the data of each event to a
 * message scanner, and knows where the bytes stop. It decides nothing about outcomes and keeps no text but the last event id.
 */
import type { MessageScan } from './message-scan.ts';
import { Token } from './token.ts';

export type Cut = 'none' | 'boundary' | 'mid';

export interface SseListener {
  /** An event of a type that carries messages is whole. Its data is in the scanner, which is used again afterwards. */
  message(message: MessageScan): void;
  /** The data of an event begins. */
  began(): void;
  /** Data of the event that is not finished yet, in pieces. */
  data(chunk: Uint8Array, from: number, to: number): void;
}

/** Events longer than this are marked. Their bytes are scanned all the same: nothing of them is kept. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
const NEWLINE = Uint8Array.of(LF);
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
/** The longest field name of the format is 5 bytes; longer ones are ignored by every parser. */
const MAX_NAME = 5;
const indexOf = Buffer.prototype.indexOf;

type Mode = 'line' | 'name' | 'value' | 'data' | 'short' | 'skip';

export class SseScan {
  bytes = 0;
  events = 0;
  eventIds = 0;
  /** Of the last event that carried an id; undefined: none, or too long. */
  lastEventId: string | undefined;
  oversize = false;
  readonly #listener: SseListener;
  readonly #message: MessageScan;
  #mode: Mode = 'line';
  #name = '';
  /** The value of an event type or an id; one that is too long for a token is not compared or digested. */
  readonly #token = new Token();
  #short: string | undefined = '';
  #afterCr = false;
  /** Bytes of the mark at the start that were seen; -1: the place for it is over. */
  #mark = 0;
  /** Of the event that is not finished yet. */
  #open = false;
  #hasData = false;
  #eventType = '';
  #hasId = false;
  #eventId: string | undefined;
  #lastWasCut = false;

  constructor(message: MessageScan, listener: SseListener) {
    this.#message = message;
    this.#listener = listener;
  }

  push(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    let from = 0;
    if (this.#mark >= 0) {
      while (from < chunk.length && this.#mark < 3 && chunk[from] === BOM[this.#mark]) {
        this.#mark++;
        from++;
      }
      if (this.#mark < 3 && from === chunk.length) return;
      const partial = this.#mark < 3 ? this.#mark : 0;
      this.#mark = -1;
      if (partial > 0) this.#lines(BOM, 0, partial);
    }
    this.#lines(chunk, from, chunk.length);
  }

  /** Where the bytes stop, if the stream ended here. */
  cut(): Cut {
    if (this.bytes === 0) return 'none';
    const inLine = this.#mode !== 'line' || (this.#mark > 0 && this.#mark < 3);
    return inLine || this.#open || this.#lastWasCut ? 'mid' : 'boundary';
  }

  /** The message of the event that is not finished yet. */
  get pending(): MessageScan | undefined {
    return this.#hasData && this.#carriesMessages() ? this.#message : undefined;
  }

  #lines(chunk: Uint8Array, from: number, to: number): void {
    // memchr is far faster than a loop, and Buffer alone has it.
    const next = (byte: number, at: number): number => {
      const found: number = indexOf.call(chunk, byte, at);
      return found < 0 || found > to ? to : found;
    };
    let i = from;
    let lf = i === to ? to : next(LF, i);
    let cr = i === to ? to : next(CR, i);
    while (i < to) {
      if (this.#mode === 'line') {
        const c = chunk[i] as number;
        if (c === LF && this.#afterCr) {
          this.#afterCr = false;
          i++;
          continue;
        }
        this.#afterCr = false;
        [this.#mode, this.#name] = ['name', ''];
      }
      if (lf < i) lf = next(LF, i);
      if (cr < i) cr = next(CR, i);
      const end = Math.min(lf, cr);
      if (this.#mode === 'name') i = this.#readName(chunk, i, end);
      if (this.#mode === 'value' && i < end) {
        if (chunk[i] === SPACE) i++;
        this.#mode = this.#name === 'data' ? 'data' : this.#name === 'event' || this.#name === 'id' ? 'short' : 'skip';
      }
      if (i < end && this.#mode !== 'name') {
        if (this.#mode === 'data') this.#addData(chunk, i, end);
        else if (this.#mode === 'short') this.#addShort(chunk, i, end, end < to);
        i = end;
      }
      if (i < to) {
        this.#endLine();
        this.#afterCr = chunk[i] === CR;
        i++;
      }
    }
  }

  /** Reads the field name up to the colon, or as far as the line goes in this chunk. */
  #readName(chunk: Uint8Array, from: number, end: number): number {
    if (this.#name === '' && startsWithData(chunk, from, end)) {
      this.#name = 'data';
      this.#startValue();
      return from + 5;
    }
    for (let i = from; i < end; i++) {
      const c = chunk[i] as number;
      if (c === COLON) {
        this.#startValue();
        return i + 1;
      }
      if (this.#name.length <= MAX_NAME) this.#name += String.fromCharCode(c);
      else {
        this.#mode = 'skip';
        return i;
      }
    }
    return end;
  }

  #startValue(): void {
    this.#mode = 'value';
    this.#short = '';
    if (this.#name !== 'data') return;
    if (this.#hasData) this.#addData(NEWLINE, 0, 1);
    else {
      this.#message.reset();
      this.#listener.began();
    }
    this.#hasData = true;
  }

  #addData(chunk: Uint8Array, from: number, to: number): void {
    this.#message.push(chunk, from, to);
    this.#listener.data(chunk, from, to);
    if (this.#message.bytes > MAX_EVENT_BYTES) this.oversize = true;
  }

  #addShort(chunk: Uint8Array, from: number, to: number, isWhole: boolean): void {
    if (isWhole) this.#short = this.#token.take(chunk, from, to);
    else this.#token.add(chunk, from, to);
  }

  /** Of the line that ends: text of a short value, undefined when it is too long. */
  #value(): string | undefined {
    return this.#token.length > 0 ? this.#token.take(NEWLINE, 0, 0) : this.#short;
  }

  #endLine(): void {
    const wasEmpty = this.#mode === 'name' && this.#name === '';
    if (this.#mode === 'name' && !wasEmpty) this.#startValue();
    this.#mode = 'line';
    if (wasEmpty) {
      this.#endEvent();
      return;
    }
    switch (this.#name) {
      case 'event':
        this.#eventType = this.#value() ?? 'other';
        break;
      case 'id': {
        const id = this.#value();
        // A value with a NUL is ignored, whatever its length; a long one is not looked at for it.
        if (id?.includes('\0')) break;
        [this.#hasId, this.#eventId] = [id !== '', id];
        break;
      }
      case 'data':
      case 'retry':
        break;
      default:
        return;
    }
    this.#open = true;
  }

  #endEvent(): void {
    if (this.#hasId) {
      this.eventIds++;
      this.lastEventId = this.#eventId;
    }
    if (this.#hasData) {
      this.events++;
      if (this.#carriesMessages()) {
        this.#lastWasCut = this.#message.state() === 'cut';
        this.#listener.message(this.#message);
      } else this.#lastWasCut = false;
    }
    [this.#open, this.#hasData, this.#eventType, this.#hasId] = [false, false, '', false];
  }

  #carriesMessages(): boolean {
    return this.#eventType === '' || this.#eventType === 'message';
  }
}

/** `data:`, the name of nearly every line. */
const startsWithData = (chunk: Uint8Array, at: number, end: number): boolean =>
  end - at >= 5 &&
  chunk[at] === 0x64 &&
  chunk[at + 1] === 0x61 &&
  chunk[at + 2] === 0x74 &&
  chunk[at + 3] === 0x61 &&
  chunk[at + 4] === COLON;
