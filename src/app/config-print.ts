/** The effective configuration as YAML that loads again to the same values, with a comment where each of them comes from. */
import { stringify } from 'yaml';
import {
  type Config,
  formatListen,
  KEYS,
  type KeySpec,
  type ListenAddress,
  SERVER_KEYS,
  serverPath,
} from './config-keys.ts';

export function printConfig(config: Config): string {
  const lines: string[] = [];
  const print = (indent: string, spec: KeySpec, path: string, value: unknown) => {
    if (value === undefined) return;
    // A file name may hold line ends; a comment must not.
    const origin = (config.origins[path] ?? 'default').replace(/\p{Cc}/gu, '?');
    lines.push(`${indent}${lastOf(spec.path)}: ${inline(spec, value)} # ${origin}`);
  };

  let group = '';
  for (const [field, spec] of Object.entries<KeySpec>(KEYS)) {
    const [first, ...rest] = spec.path.split('.');
    if (rest.length > 0 && first !== group) lines.push(`${first}:`);
    group = first!;
    print('  '.repeat(rest.length), spec, spec.path, config[field as keyof typeof KEYS]);
  }
  lines.push(config.servers.length === 0 ? 'servers: {} # default' : 'servers:');
  for (const server of config.servers) {
    lines.push(`  ${scalar(server.name)}:`);
    for (const [field, spec] of Object.entries<KeySpec>(SERVER_KEYS)) {
      print('    ', spec, serverPath(server.name, spec.path), server[field as keyof typeof SERVER_KEYS]);
    }
  }
  return `${lines.join('\n')}\n`;
}

function inline(spec: KeySpec, value: unknown): string {
  if (spec.type === 'listen') return scalar(formatListen(value as ListenAddress));
  return Array.isArray(value) ? `[${value.map(scalar).join(', ')}]` : scalar(value);
}

/** JSON's quoting is YAML's too, and never spans lines; words that need none stay plain. */
function scalar(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const plain = /^[\w/.][\w/.:-]*$/.test(value) && stringify(value).trimEnd() === value;
  return plain ? value : JSON.stringify(value);
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
