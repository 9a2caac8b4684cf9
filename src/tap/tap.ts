/**
 * The entry of dist/tailfin-tap.cjs, loaded into a host by `--require` or `--import`: wraps globalThis.fetch, once. It decides which
 * processes are left alone. It must never throw: the host would not start.
 */
import { basename } from 'node:path';
import { processTap } from './process-tap.ts';
import { quietly } from './quietly.ts';
import { readSettings } from './settings.ts';

/** Tools that start hosts: what they start gets the same environment, and its own tap. */
const TOOLS: ReadonlySet<string> = new Set([
  ...['npm', 'npx', 'yarn', 'yarnpkg', 'pnpm', 'pnpx', 'corepack'],
  ...['npm-cli', 'npx-cli', 'npm-prefix'],
]);

const isTool = (script: string | undefined): boolean =>
  script !== undefined && TOOLS.has(basename(script).replace(/\.[cm]?js$/, ''));

quietly(() => {
  const settings = readSettings(process.env);
  if (settings.off || isTool(process.argv[1]) || typeof globalThis.fetch !== 'function') return;
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  const fetch = processTap(() => settings).wrap(globalThis.fetch);
  Object.defineProperty(globalThis, 'fetch', {
    value: fetch,
    writable: true,
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
  });
});
