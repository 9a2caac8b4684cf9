/**
 * Where the ids of the line in work stand among its bytes: to hash and to copy them from there costs a fraction of what it costs from
 * their texts. It knows them by these texts, and says of any other that it does not; once the line is over it knows none.
 */
import { hash53, hash53Of } from '../model/hash53.ts';

const NOWHERE = new Uint8Array(0);

export class IdBytes {
  #bytes: Uint8Array = NOWHERE;
  #view: DataView = new DataView(NOWHERE.buffer);
  /** Of the exchange. */
  #exchange: string | null | undefined;
  #exchangeAt = 0;
  /** The digest of its arguments. */
  #digest: string | null | undefined;
  #digestAt = 0;

  /** A line of these bytes begins. Its ids are printable ASCII, a byte for each character. */
  begin(
    bytes: Uint8Array,
    view: DataView,
    exchange: string | null | undefined,
    exchangeAt: number,
    digest: string | null | undefined,
    digestAt: number,
  ): void {
    this.#bytes = bytes;
    this.#view = view;
    this.#exchange = exchange;
    this.#exchangeAt = exchangeAt;
    this.#digest = digest;
    this.#digestAt = digestAt;
  }
  /** The line is over: others may stand in its bytes. */
  end(): void {
    this.#exchange = undefined;
    this.#digest = undefined;
  }

  /** The hash of a text, which nearly always is the id of the exchange. */
  hash(text: string): number {
    return text === this.#exchange ? hash53Of(this.#bytes, this.#exchangeAt, text.length) : hash53(text);
  }

  /** Returns whether the text is known, and was written. */
  copy(text: string, to: DataView, at: number): boolean {
    if (text === this.#exchange) copy(this.#view, this.#exchangeAt, text.length, to, at);
    else if (text === this.#digest) copy(this.#view, this.#digestAt, text.length, to, at);
    else return false;
    return true;
  }
}

/** Printable ASCII is no NaN, so that eight bytes may be moved as one number. The last eight overlap those before. */
function copy(from: DataView, start: number, length: number, to: DataView, at: number): void {
  if (length < 8) {
    for (let i = 0; i < length; i++) to.setUint8(at + i, from.getUint8(start + i));
    return;
  }
  const last = length - 8;
  for (let i = 0; i < last; i += 8) to.setFloat64(at + i, from.getFloat64(start + i, true), true);
  to.setFloat64(at + last, from.getFloat64(start + last, true), true);
}
