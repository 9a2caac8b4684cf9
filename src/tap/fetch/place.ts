/**
 * The parts of a URL that the tap works with, read once per URL and kept for the last ones: a host talks to few. Path and origin stay in
 * memory; only the endpoint may be written. It decides nothing.
 */
import { hostPort } from '../../core/protocol/endpoint.ts';

export interface Place {
  readonly origin: string;
  readonly path: string;
  /** `host:port`, with the default port written out: path, query and user info of a URL may hold secrets. */
  readonly endpoint: string;
}

const CAP = 256;
/** A longer URL is read each time: texts of any length are not kept. */
const MAX_KEY = 2048;

/** Forgets all when it is full: what is still in use is read again. */
function remembered<V>(read: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    let value = known.get(text);
    if (value !== undefined) return value;
    value = read(text);
    if (known.size >= CAP) known.clear();
    if (text.length <= MAX_KEY) known.set(text, value);
    return value;
  };
}

const placeAt = remembered((href): Place => {
  const { protocol, host, origin, pathname } = new URL(href);
  return { origin, path: pathname, endpoint: hostPort(`${protocol}//${host}`) ?? (host === '' ? 'unknown' : host) };
});
export const placeOf = ({ href }: URL): Place => placeAt(href);

/** The URL that a text names; not to be altered. @throws where it names none. */
export const urlOf: (text: string) => URL = remembered((text) => new URL(text));
