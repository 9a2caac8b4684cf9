/** Values that are fine alone and wrong together. Each conflict is one line that names the keys and where they were set. */
import { BlockList, isIP } from 'node:net';
import { type Config, formatListen } from './config-keys.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A name other than `localhost` may resolve to anything. */
function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

export function conflictsIn({ ingest, ingestTokenFile, localListen, origins }: Config): string[] {
  if (!ingest || ingestTokenFile !== undefined || isLoopback(localListen.host)) return [];
  const where = `local_listen ${formatListen(localListen)} (${origins.local_listen})`;
  return [
    `${where} is no loopback address: with ingest.enabled (${origins['ingest.enabled']}) ingest.token_file is required`,
  ];
}
