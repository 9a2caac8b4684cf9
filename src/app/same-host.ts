/**
 * Who may talk to the loopback listener: those who name this host. A web page that somebody opens can send requests here too, by a DNS
 * name of its own that resolves to 127.0.0.1, or across sites; its Host or its Origin gives it away. This is no login: whoever is in
 * the pod may ask.
 */
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';

/** The host of `host:port` or `[::1]:port`, in lower case, without brackets. */
const hostOf = (authority: string): string => {
  const [, ipv6, name = ''] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d*)?$/.exec(authority) ?? [];
  return (ipv6 ?? name).toLowerCase();
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function originHost(origin: string): string {
  try {
    return hostOf(new URL(origin).host);
  } catch {
    // `null`: a sandboxed page or a file.
    return '';
  }
}

/** `listenHost` as configured: a listener that was put on another address may be called by it. */
export function requireSameHost(listenHost: string): RequestHandler {
  const isOwn = (host: string, localAddress: string | undefined): boolean =>
    isLoopback(host) ||
    host === listenHost.toLowerCase() ||
    // A listener on `::` sees a caller by IPv4 at a mapped address.
    (isIP(host) !== 0 && host === localAddress?.replace(/^::ffff:(?=\d+\.)/, ''));
  return (request, response, next) => {
    const { host = '', origin } = request.headers;
    const { localAddress } = request.socket;
    if (!isOwn(hostOf(host), localAddress))
      response.status(403).json({ error: 'the Host header names another host; ask as localhost or by the address' });
    else if (origin !== undefined && !isOwn(originHost(origin), localAddress))
      response.status(403).json({ error: 'requests of other sites are refused (Origin)' });
    else next();
  };
}
