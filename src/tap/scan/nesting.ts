/** Which containers are open, one bit each: all that a JSON scanner has to remember. Bounded by its depth: 16 KiB at most. */

/** Deeper than any real message. JSON.parse goes deeper, so beyond it nothing is claimed. */
export const MAX_DEPTH = 65_536;

export class Nesting {
  depth = 0;
  /** Is the innermost container a list? */
  inList = false;
  /** 32 containers in each. */
  readonly #bits: number[] = [0];

  /** false: too deep. */
  push(isList: boolean): boolean {
    if (this.depth === MAX_DEPTH) return false;
    const word = this.depth >> 5;
    if (word === this.#bits.length) this.#bits.push(0);
    const bit = 1 << (this.depth & 31);
    if (isList) this.#bits[word]! |= bit;
    else this.#bits[word]! &= ~bit;
    this.depth++;
    this.inList = isList;
    return true;
  }

  pop(): void {
    const last = --this.depth - 1;
    this.inList = last >= 0 && ((this.#bits[last >> 5] as number) & (1 << (last & 31))) !== 0;
  }

  clear(): void {
    this.depth = 0;
    this.inList = false;
  }
}
