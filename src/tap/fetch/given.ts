/**
 * Reads what a caller hands to fetch without running any code of the caller: a getter or a toString() may have effects, and fetch runs
 * it itself. What cannot be read so is UNREADABLE. It decides nothing about MCP.
 */
import { types } from 'node:util';
import { fetchMethods } from './fetch-classes.ts';

export const UNREADABLE = Symbol('unreadable');
const { isProxy } = types;

/** A member of what may be a plain object, an instance of a class, or a Request. */
export function memberOf(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null) return undefined;
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (isProxy(at)) return UNREADABLE;
    const descriptor = Object.getOwnPropertyDescriptor(at, name);
    if (descriptor === undefined) continue;
    if (descriptor.get === undefined) return descriptor.value;
    return at === Request.prototype ? Reflect.apply(descriptor.get, object, []) : UNREADABLE;
  }
  return undefined;
}

/** Reads one header by its lower-case name. Of one that is there and is no text, only that it is there: ''. */
export type HeaderReader = (name: string) => string | null;

/** Of headers that nobody may look at. */
export const UNREAD: HeaderReader = () => null;

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export function headerReader(headers: unknown): HeaderReader {
  if (headers === undefined || headers === null) return () => null;
  if (typeof headers !== 'object' || isProxy(headers)) return UNREAD;
  if (headers instanceof Headers) {
    const { get } = fetchMethods();
    return (name) => Reflect.apply(get, headers, [name]);
  }
  const own = new Map<string, string>();
  const add = (name: unknown, value: unknown): void => {
    if (typeof name === 'string') own.set(name.toLowerCase(), textOf(value));
  };
  if (headers instanceof Map) Map.prototype.forEach.call(headers, (value, name) => add(name, value));
  else if (headers instanceof URLSearchParams)
    URLSearchParams.prototype.forEach.call(headers, (value, name) => add(name, value));
  else if (Symbol.iterator in headers) {
    // What may be walked through only once is fetch's alone: reading it here would take the headers out of the request.
    if (!isListOfPairs(headers)) return UNREAD;
    for (const [name, value] of headers) add(name, value);
  } else for (const name of Object.keys(headers)) add(name, Object.getOwnPropertyDescriptor(headers, name)?.value);
  return (name) => own.get(name) ?? null;
}

const isPlainList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && !isProxy(value) && Object.getPrototypeOf(value) === Array.prototype;
const isListOfPairs = (headers: object): headers is unknown[][] =>
  isPlainList(headers) && !Object.hasOwn(headers, Symbol.iterator) && headers.every(isPlainList);
