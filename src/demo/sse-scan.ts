/**
 * Follows a text/event-stream by its bytes: counts events and ids, scans the JSON-RPC message of each event, and knows where the
 * bytes stop. It decides nothing about outcomes and keeps no text: only the id of the last event, in memory, for a digest.
 */
import { JsonRpcScan } from './json-rpc-scan.ts';

export type Cut = 'none' | 'boundary' | 'mid';

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
const NEWLINE = Uint8Array.of(LF);
const BOM = [0xef, 0xbb, 0xbf];
/** The longest field name of the format is 5 bytes; longer ones are ignored by every parser. */
const MAX_NAME = 5;
/** Event names and ids longer than this are not compared or digested. */
const MAX_SHORT = 1024;

export class SseScan {
  bytes = 0;
  events = 0;
  eventIds = 0;
  lastEventId: string | undefined;
  /** The message of the event that is not finished yet. */
  pending: JsonRpcScan | undefined;
  readonly #onMessage: (message: JsonRpcScan) => void;
  #lineBytes = 0;
  #name = '';
  #inValue = false;
  #short: number[] = [];
  /** Fields of the event that is not finished yet. */
  #open = false;
  #eventName = '';
  #hasId = false;
  #afterCr = false;
  #lastWasCut = false;

  constructor(onMessage: (message: JsonRpcScan) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Uint8Array): void {
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i] as number;
      const at = this.bytes + i;
      if (this.#afterCr && c === LF) {
        this.#afterCr = false;
      } else if (c === LF || c === CR) {
        this.#afterCr = c === CR;
        this.#endLine();
      } else if (this.#inValue && this.#name === 'data' && !(c === SPACE && this.#lineBytes === MAX_NAME)) {
        // The run up to the line end goes to the scanner in one piece.
        let end = i + 1;
        while (end < chunk.length && chunk[end] !== LF && chunk[end] !== CR) end++;
        this.pending?.push(chunk.subarray(i, end));
        this.#lineBytes += end - i;
        i = end - 1;
      } else if (at >= 3 || c !== BOM[at]) {
        this.#afterCr = false;
        this.#lineByte(c);
      }
    }
    this.bytes += chunk.length;
  }

  /** Where the bytes stop, if the stream ended here. */
  cut(): Cut {
    if (this.bytes === 0) return 'none';
    return this.#lineBytes > 0 || this.#open || this.#lastWasCut ? 'mid' : 'boundary';
  }

  #lineByte(c: number): void {
    this.#lineBytes++;
    if (this.#inValue) {
      const leadingSpace = c === SPACE && this.#lineBytes === this.#name.length + 2;
      if (!leadingSpace && this.#short.length <= MAX_SHORT) this.#short.push(c);
    } else if (c === COLON) this.#startValue();
    else if (this.#name.length <= MAX_NAME) this.#name += String.fromCharCode(c);
  }

  #startValue(): void {
    this.#inValue = true;
    if (this.#name !== 'data') return;
    if (this.pending === undefined) this.pending = new JsonRpcScan();
    else this.pending.push(NEWLINE);
  }

  #endLine(): void {
    if (this.#lineBytes === 0) this.#endEvent();
    else {
      if (!this.#inValue) this.#startValue();
      const value = new TextDecoder().decode(Uint8Array.from(this.#short));
      if (this.#name === 'event') this.#eventName = value;
      if (this.#name === 'id' && this.#short.length <= MAX_SHORT) [this.#hasId, this.lastEventId] = [true, value];
      if (['data', 'event', 'id', 'retry'].includes(this.#name)) this.#open = true;
    }
    [this.#lineBytes, this.#name, this.#inValue, this.#short] = [0, '', false, []];
  }

  #endEvent(): void {
    const message = this.pending;
    if (this.#hasId) this.eventIds++;
    if (message !== undefined) {
      this.events++;
      this.#lastWasCut = message.state() === 'cut';
      if (this.#eventName === '' || this.#eventName === 'message') this.#onMessage(message);
    }
    [this.pending, this.#open, this.#eventName, this.#hasId] = [undefined, false, '', false];
  }
}
