/** Values of OTLP (AnyValue) as JSON values, to a depth that every event stays far within. */

export type Tree = string | number | boolean | null | readonly Tree[] | { readonly [key: string]: Tree };
export const TOO_DEEP = Symbol('too deep');
/** Events nest twice. */
const MAX_DEPTH = 16;

export const treeOf = {
  list<T>(values: readonly T[], depth: number, toValue: (value: T) => Tree | typeof TOO_DEEP): Tree | typeof TOO_DEEP {
    if (depth >= MAX_DEPTH) return TOO_DEEP;
    const list: Tree[] = [];
    for (const each of values) {
      const value = toValue(each);
      if (value === TOO_DEEP) return TOO_DEEP;
      list.push(value);
    }
    return list;
  },
  map<T>(
    entries: readonly (readonly [key: string, value: T])[],
    depth: number,
    toValue: (value: T) => Tree | typeof TOO_DEEP,
  ): Tree | typeof TOO_DEEP {
    if (depth >= MAX_DEPTH) return TOO_DEEP;
    // No prototype: a key may have any name.
    const map: Record<string, Tree> = Object.create(null);
    for (const [key, each] of entries) {
      const value = toValue(each);
      if (value === TOO_DEEP) return TOO_DEEP;
      map[key] = value;
    }
    return map;
  },
} as const;
