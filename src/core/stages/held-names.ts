/**
 * Host, server and target of a call that failed are cut out of its key in the index (joining.ts) when somebody asks, and stand nowhere
 * else while it waits there among thousands: held for 600 s, names that never come again are most of what such a call weighs. Who asks,
 * and who sets a name, must not notice.
 */
import { intern, joined } from '../model/intern.ts';
import { keptFields } from '../state.ts';

/** Parts of a key: digest, host, server, method, target. */
const SEPARATORS = 4;
const HOST = 1;
const SERVER = 2;
const TARGET = 4;

export const indexKey = (
  digest: string,
  host: string,
  server: string,
  method: string | null,
  target: string | null,
  // One flat text of its own: what a template puts together is held as a tree of its parts. None of the engine's own strings, which are
  // dear to make, and are made where objects live for long.
): string => [digest, host, server, method ?? '', target ?? ''].join('\n');

function partOf(key: string, part: number): string {
  let from = 0;
  for (let i = 0; i < part; i++) from = key.indexOf('\n', from) + 1;
  const end = part === SEPARATORS ? key.length : key.indexOf('\n', from);
  // A text of its own: who keeps it, as the label of a series, must not keep the key.
  return end - from < 2 ? key.slice(from, end) : joined(key.slice(from, from + 1), '', key.slice(from + 1, end));
}

/** A name may have line ends of its own. */
function hasItsParts(key: string): boolean {
  let found = 0;
  for (let at = key.indexOf('\n'); at >= 0; at = key.indexOf('\n', at + 1)) found++;
  return found === SEPARATORS;
}

/** In the place of a target: the names stand in the key that is in the place of the host. With a target, or with none. */
const HELD: unique symbol = Symbol('held');
const HELD_ALONE: unique symbol = Symbol('held, no target');

/** No field more than the names have: there are tens of thousands. */
export class HeldNames {
  #host = '';
  #server = '';
  #target: string | null | typeof HELD | typeof HELD_ALONE = null;

  get host(): string {
    return this.#isHeld() ? partOf(this.#host, HOST) : this.#host;
  }
  set host(name: string) {
    if (this.#isHeld()) {
      if (name === this.host) return;
      this.release();
    }
    this.#host = name;
  }
  get server(): string {
    return this.#isHeld() ? partOf(this.#host, SERVER) : this.#server;
  }
  set server(name: string) {
    if (this.#isHeld()) {
      if (name === this.server) return;
      this.release();
    }
    this.#server = name;
  }
  get target(): string | null {
    const target = this.#target;
    return target === HELD ? partOf(this.#host, TARGET) : target === HELD_ALONE ? null : target;
  }
  set target(name: string | null) {
    if (this.#isHeld()) {
      if (name === this.target) return;
      this.release();
    }
    this.#target = name;
  }

  #isHeld(): boolean {
    return this.#target === HELD || this.#target === HELD_ALONE;
  }

  /** No names of its own any more, where they stand in this key. */
  holdIn(key: string): void {
    const { host, server, target } = this;
    if (this.#isHeld() || target === '' || !hasItsParts(key)) return;
    if (host !== partOf(key, HOST) || server !== partOf(key, SERVER) || (target ?? '') !== partOf(key, TARGET)) return;
    this.#host = key;
    this.#server = '';
    this.#target = target === null ? HELD_ALONE : HELD;
  }

  toJSON(): object {
    return plainCopy(this);
  }

  /** Names of its own again, shared with others, and nothing that keeps the whole key alive. */
  release(): void {
    if (!this.#isHeld()) return;
    const { host, server, target } = this;
    this.#host = intern(host);
    this.#server = intern(server);
    this.#target = target === null ? null : intern(target);
  }
}

/** Of what it looks like from outside, which a spread would not see. */
export function plainCopy<T extends object>(value: T): T {
  const names = keptFields(value) ?? Object.keys(value);
  return Object.fromEntries(names.map((name) => [name, value[name as keyof T]])) as T;
}
