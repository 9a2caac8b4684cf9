/**
 * Keyed digests: texts are equal or not, under one key, and nothing else can be read from them. Where the key comes from is
 * key.ts's matter.
 */
import { createKeyedHash } from './hmac.ts';

/** 64 bits: with a million texts under one key, two of them meet by chance once in 37 million such sets. */
const DIGEST_BYTES = 8;
const KEY_ID_TEXT = 'tailfin key id';

export interface Digester {
  /** Which key: digests compare only where this is equal. */
  readonly keyId: string;
  /** 11 characters of base64url. */
  digest(text: string): string;
}

export function createDigester(key: Uint8Array): Digester {
  const hash = createKeyedHash(key);
  const digest = (text: string): string => hash(text).toString('base64url', 0, DIGEST_BYTES);
  return { keyId: digest(KEY_ID_TEXT), digest };
}

/**
 * JSON with sorted keys: values that are equal on the wire give equal text. Reads values as JSON.stringify does (NaN is null,
 * undefined is no member). @throws RangeError for what is nested deeper than the stack, TypeError for what has no JSON.
 */
export function canonicalJson(value: unknown): string {
  return render(plain(value, '')) ?? 'null';
}

/** What JSON.stringify would look at instead. */
function plain(value: unknown, key: string): unknown {
  const toJson = (value as { toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJson === 'function' ? toJson.call(value, key) : value;
}

function render(value: unknown): string | undefined {
  if (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Number ||
    value instanceof String ||
    value instanceof Boolean
  )
    return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((part, i) => render(plain(part, String(i))) ?? 'null').join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const text = render(plain((value as Record<string, unknown>)[key], key));
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
