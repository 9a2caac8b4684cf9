/**
 * What of the core outlives one event, as named parts that can be written down and read back: the one way by which a stage or a
 * detector may keep something. Whoever serialises them does so as one graph, so that an object that several parts hold stays one
 * object. A part must hold plain values only (maps, sets, arrays, typed arrays, records): no closure, and no instance but of a class that
 * lists its fields under KEPT; such a one is read back as a record. It knows no format.
 */

/** On a prototype: the fields that are written down, which may have getters. */
export const KEPT: unique symbol = Symbol('kept');
export const keptFields = (value: object): readonly string[] | undefined =>
  (value as { readonly [KEPT]?: readonly string[] })[KEPT];

export interface Part {
  /** One slice of work each; nothing may change until the last one was taken. */
  save(): Iterable<unknown>;
  /** What `save` gave, in its order, into a pipeline that has seen nothing yet. */
  load(values: readonly unknown[]): void;
  /** All parts are loaded: what this one must put right in its objects, or derive from them. */
  loaded?(): void;
}

/** By name; in the order in which they were made, which may change from one version to the next. */
export type Parts = Map<string, Part>;
export type Saved = Iterable<readonly [part: string, value: unknown]>;

/** Entries of a store in one slice. */
export const SLICE = 128;

export function keep(parts: Parts, name: string, part: Part): void {
  if (parts.has(name)) throw new Error(`two parts of the state are named ${name}`);
  parts.set(name, part);
}

/** A few values of one stage: a record that is changed in place. */
export function keepValues<T extends object>(parts: Parts, name: string, values: T): T {
  keep(parts, name, {
    save: () => [{ ...values }],
    load: ([saved]) => Object.assign(values, saved),
  });
  return values;
}

/** An index of a stage, bounded by the store that it belongs to. */
export function keepMap<K, V>(parts: Parts, name: string): Map<K, V> {
  const map = new Map<K, V>();
  keep(parts, name, {
    save: () => slices(map),
    load: (values) => readEntries(values, (key, value) => map.set(key as K, value as V)),
  });
  return map;
}

/** Keys and values in turn, a few hundred at a time. */
export function* slices(entries: Iterable<readonly [unknown, unknown]>): Generator<unknown[]> {
  let slice: unknown[] = [];
  for (const [key, value] of entries) {
    slice.push(key, value);
    if (slice.length < 2 * SLICE) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

export function readEntries(values: readonly unknown[], take: (key: unknown, value: unknown) => void): void {
  for (const slice of values as unknown[][]) for (let i = 0; i < slice.length; i += 2) take(slice[i], slice[i + 1]);
}

export function* saveParts(parts: Parts): Generator<readonly [part: string, value: unknown]> {
  for (const [name, part] of parts) for (const value of part.save()) yield [name, value];
}

/** Returns the names that no part has any more. */
export function loadParts(parts: Parts, saved: Saved): string[] {
  const byName = new Map<string, unknown[]>();
  for (const [name, value] of saved) {
    const values = byName.get(name);
    if (values === undefined) byName.set(name, [value]);
    else values.push(value);
  }
  for (const [name, part] of parts) part.load(byName.get(name) ?? []);
  for (const part of parts.values()) part.loaded?.();
  return [...byName.keys()].filter((name) => !parts.has(name));
}
