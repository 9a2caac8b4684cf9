/**
 * `tailfin/tap`: the tap for one fetch function, where a host hands its own one to an SDK. Same behaviour, same lines and same
 * settings as the preloaded tap; where that one is loaded too, both are one and no exchange is recorded twice.
 */
import { processTap } from './process-tap.ts';
import { quietly } from './quietly.ts';
import { readSettings } from './settings.ts';

export interface WrapFetchOptions {
  /** Folder of the event files. Default: TAILFIN_TAP_DIR, else /var/run/tailfin/events. */
  readonly dir?: string | undefined;
  /** Name of this host on every line. Default: TAILFIN_TAP_HOST, else TAILFIN_HOST, else the name of the machine. */
  readonly host?: string | undefined;
  /** File with the digest key. Default: TAILFIN_TAP_KEY_FILE, else a random key. */
  readonly keyFile?: string | undefined;
  /** Bytes that all event files of the folder may take. Default: TAILFIN_TAP_QUOTA, else 64 MiB. */
  readonly quota?: number | undefined;
  /** Follow the calls of MCP SDKs. Default: yes, unless TAILFIN_TAP_SETTLE is `off`. */
  readonly settle?: boolean | undefined;
}

/**
 * The same fetch, recorded. The first call in a process decides the options; the preloaded tap has decided them already. With
 * TAILFIN_TAP=off the function comes back as it is.
 */
export function wrapFetch<F extends (input: never, init?: never) => Promise<unknown>>(
  fetch: F,
  options: WrapFetchOptions = {},
): F {
  const settings = readSettings(process.env);
  if (settings.off) return fetch;
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const tap = quietly(() => processTap(() => ({ ...settings, ...given })));
  return tap === undefined ? fetch : (tap.wrap(fetch as unknown as typeof globalThis.fetch) as unknown as F);
}
