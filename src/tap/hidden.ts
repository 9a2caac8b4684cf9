/**
 * A value kept on an object of the host, where nothing but this code can see it: no property, no symbol, nothing that inspection or
 * copying finds. A WeakMap does the same, but every collection of young objects walks it: with a few objects per exchange that cost
 * more than all else that the tap does. Not for objects that may be frozen.
 */
export interface Hidden<T> {
  get(object: object): T | undefined;
  set(object: object, value: T): void;
}

/** What a constructor returns is what the fields of a derived class are put on. */
const Given = class {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: it is what this class is for.
    return object;
  }
};

export function createHidden<T>(): Hidden<T> {
  class Holder extends Given {
    #value: T;
    constructor(object: object, value: T) {
      super(object);
      this.#value = value;
    }
    static get(object: object): T | undefined {
      return #value in object ? object.#value : undefined;
    }
    static set(object: object, value: T): void {
      if (#value in object) object.#value = value;
      else new Holder(object, value);
    }
  }
  return Holder;
}
