/**
 * Settings of the tap, from the environment alone: it loads inside other people's processes. A bad value falls back to its default,
 * because nothing here may stop a host from starting.
 */
import { hostname } from 'node:os';
import { resolve } from 'node:path';

export interface TapSettings {
  readonly off: boolean;
  /** Folder of the segment files. */
  readonly dir: string;
  /** The `host` field of every line. */
  readonly host: string;
  /** File with the digest key; undefined: a random key of this process. */
  readonly keyFile: string | undefined;
  /** Bytes that all segment files of the folder may take. */
  readonly quota: number;
  /** Say what callers of an MCP SDK received (`settle` lines). */
  readonly settle: boolean;
}

export const DEFAULT_DIR = '/var/run/tailfin/events';
const DEFAULT_QUOTA = 64 * 1024 * 1024;
const MIN_QUOTA = 64 * 1024;
const MAX_HOST = 128;

export function readSettings(env: NodeJS.ProcessEnv): TapSettings {
  const text = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const quota = Number(text('TAILFIN_TAP_QUOTA') ?? DEFAULT_QUOTA);
  return {
    off: text('TAILFIN_TAP') === 'off',
    // Whole from the start: a host may change its folder.
    dir: resolve(text('TAILFIN_TAP_DIR') ?? DEFAULT_DIR),
    host: (text('TAILFIN_TAP_HOST') ?? text('TAILFIN_HOST') ?? hostname()).slice(0, MAX_HOST),
    keyFile: text('TAILFIN_TAP_KEY_FILE'),
    quota: Number.isSafeInteger(quota) && quota >= MIN_QUOTA ? quota : DEFAULT_QUOTA,
    settle: text('TAILFIN_TAP_SETTLE') !== 'off',
  };
}
