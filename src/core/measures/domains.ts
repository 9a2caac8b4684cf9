/** Label domains: closed lists, or names that are bounded by a budget (`_other` past it). */

export const OTHER = '_other';

/** Bounded by budget: 64 servers, 32 endpoints per server (design section 7). */
export const SERVER = 'server';
export const ENDPOINT = 'endpoint';
/** Open by configuration only (a source name) or by protocol (an HTTP status): small by construction, never from payloads. */
export const NAME = 'name';
export type BoundedDomain = typeof SERVER | typeof ENDPOINT | typeof NAME;
export type Domain = BoundedDomain | readonly string[];

/** Upper bounds in bytes, exclusive; the class holds its lower bound. */
const SIZE_BOUNDS: readonly (readonly [number, string])[] = [
  [1024, '<1KiB'],
  [4 * 1024, '1-4KiB'],
  [8 * 1024, '4-8KiB'],
  [16 * 1024, '8-16KiB'],
  [32 * 1024, '16-32KiB'],
  [64 * 1024, '32-64KiB'],
  [128 * 1024, '64-128KiB'],
  [1024 * 1024, '128KiB-1MiB'],
];
export const SIZE_CLASSES = [
  '<1KiB',
  '1-4KiB',
  '4-8KiB',
  '8-16KiB',
  '16-32KiB',
  '32-64KiB',
  '64-128KiB',
  '128KiB-1MiB',
  '>=1MiB',
] as const;
export type SizeClass = (typeof SIZE_CLASSES)[number];

export function sizeClass(bytes: number): SizeClass {
  for (const [below, name] of SIZE_BOUNDS) if (bytes < below) return name as SizeClass;
  return '>=1MiB';
}
