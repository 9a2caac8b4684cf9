/** Endpoints as `host:port`, the only form that leaves the tap: path, query and user info are dropped, default ports written out. */

import { internalized, joined } from '../model/intern.ts';

const SHAPE = /^(?:(https?):\/\/)?(?:[^@/?#\s]*@)?(\[[0-9a-fA-F:.%]+\]|[^:/?#\s@[\]]+)(?::(\d{1,5}))?(?:[/?#].*)?$/i;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const CACHE_SIZE = 512;

const cache = new Map<string, string | null>();

function parse(endpoint: string): string | null {
  const match = SHAPE.exec(endpoint);
  if (match === null) return null;
  const [, scheme, host, port] = match;
  const name = (host as string).toLowerCase();
  if (port !== undefined) return joined(name, ':', String(Number(port)));
  // As it was cut out it would keep the whole URL alive.
  if (scheme === undefined) return internalized(name);
  return joined(name, ':', scheme.toLowerCase() === 'https' ? '443' : '80');
}

/** `host:port` of a URL or a bare `host:port` (or an instance name); null where there is none. */
export function hostPort(endpoint: string | null | undefined): string | null {
  if (endpoint === undefined || endpoint === null) return null;
  let known = cache.get(endpoint);
  if (known === undefined) {
    known = parse(endpoint);
    // Cleared whole rather than aged: a host talks to a handful of endpoints, a flood only costs the parse again.
    if (cache.size >= CACHE_SIZE) cache.clear();
    cache.set(endpoint, known);
  }
  return known;
}

/** Does this `host:port` name an IP address (one instance) rather than a DNS name (maybe many)? */
export function isIpAddress(endpoint: string): boolean {
  if (endpoint.startsWith('[')) return true;
  const colon = endpoint.lastIndexOf(':');
  return IPV4.test(colon < 0 ? endpoint : endpoint.slice(0, colon));
}

/** How the endpoint of an attempt relates to the one before (design section 5, "Endpoint of an edge"). */
export function compareEndpoints(
  before: string | null,
  after: string | null,
  endpoints: 'instance' | 'virtual' | undefined,
): 'same' | 'rotated' | 'unknown' {
  if (before === null || after === null) return 'unknown';
  if (before !== after) return 'rotated';
  if (endpoints === 'instance') return 'same';
  return endpoints !== 'virtual' && isIpAddress(after) ? 'same' : 'unknown';
}
