/** Values that are fine alone and wrong together. Each conflict is one line that names the keys and where they were set. */
import { BlockList, isIP } from 'node:net';
import { type Config, formatListen } from './config-keys.ts';
import { quote } from './config-values.ts';
import { pathMatcher } from './name-glob.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A name other than `localhost` may resolve to anything. */
function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

export function conflictsIn(config: Config): string[] {
  return [...openIngest(config), ...ownEvidence(config)];
}

/** Evidence would be read as events, line for line, and no line of it is one. Its renamed files have names of their own. */
function ownEvidence({ events, evidenceFile, evidenceOldFiles, origins }: Config): string[] {
  if (evidenceFile === '' || evidenceFile === '-') return [];
  const names = [evidenceFile, ...Array.from({ length: evidenceOldFiles }, (_, i) => `${evidenceFile}.${i + 1}`)];
  const glob = events.find((each) => names.some(pathMatcher(each)));
  if (glob === undefined) return [];
  return [
    `evidence.file ${quote(evidenceFile)} (${origins['evidence.file']}) is written where events ${quote(glob)} (${origins.events}) is read: choose another folder or name`,
  ];
}

function openIngest({ ingest, ingestOtlp, ingestTokenFile, localListen, origins }: Config): string[] {
  if (!(ingest || ingestOtlp) || ingestTokenFile !== undefined || isLoopback(localListen.host)) return [];
  const asked = ingest ? 'ingest.enabled' : 'ingest.otlp';
  const where = `local_listen ${formatListen(localListen)} (${origins.local_listen})`;
  return [`${where} is no loopback address: with ${asked} (${origins[asked]}) ingest.token_file is required`];
}
