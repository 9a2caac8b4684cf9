/**
 * Finds the SDK that makes a fetch among its callers, by the names of their files, and its Client class among the modules that are
 * loaded already. No loader hook is needed: what called fetch is loaded. An unknown package or shape gives undefined.
 */
import { Module } from 'node:module';
import { dirname, join } from 'node:path';
import { quietly } from '../quietly.ts';

export type ClientClass = abstract new (...args: never) => object;

export interface SdkCaller {
  /** Path or file URL of the module that exports Client. */
  readonly file: string;
  readonly isUrl: boolean;
}

const CLIENT_PACKAGE = /[\\/]@modelcontextprotocol[\\/]client[\\/]dist[\\/]index\.[cm]?js$/;
const SDK_PACKAGE =
  /[\\/]@modelcontextprotocol[\\/]sdk[\\/]dist[\\/](?:esm|cjs)[\\/]client[\\/](?:streamableHttp|sse|index)\.js$/;
const DEPTH = 40;

/** The files of the callers, from the innermost outwards. */
function callerFiles(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  try {
    // Raw names: source maps of the host would give those of the SDK's sources.
    Error.prepareStackTrace = (_error, sites) => sites;
    Error.stackTraceLimit = DEPTH;
    Error.captureStackTrace(holder, callerFiles);
    const sites = holder.stack as NodeJS.CallSite[];
    return Array.isArray(sites) ? sites.map((site) => site.getFileName() ?? '') : [];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace as typeof Error.prepareStackTrace;
  }
}

/** To be called inside of the fetch. */
export function findSdkCaller(): SdkCaller | undefined {
  for (const file of quietly(callerFiles) ?? []) {
    if (CLIENT_PACKAGE.test(file)) return { file, isUrl: file.startsWith('file:') };
    if (!SDK_PACKAGE.test(file)) continue;
    if (file.startsWith('file:')) return { file: new URL('index.js', file).href, isUrl: true };
    return { file: join(dirname(file), 'index.js'), isUrl: false };
  }
  return undefined;
}

/** The Client class of that very module instance; undefined where it is not loaded or looks unlike a client. */
export function loadClientClass({
  file,
  isUrl,
}: SdkCaller): ClientClass | undefined | Promise<ClientClass | undefined> {
  if (isUrl)
    return import(file).then(
      (module) => clientIn(module),
      () => undefined,
    );
  return clientIn(loaded()[file]?.exports);
}

/** What `require` has loaded, whoever called it. */
const loaded = () => (Module as unknown as { _cache: NodeJS.Dict<{ exports?: unknown }> })._cache;

function clientIn(module: unknown): ClientClass | undefined {
  const { Client } = (module ?? {}) as { Client?: ClientClass };
  if (typeof Client !== 'function') return undefined;
  const prototype = Client.prototype as Record<string, unknown>;
  const looksRight = ['connect', 'close', 'request', 'callTool'].every((name) => typeof prototype[name] === 'function');
  return looksRight ? Client : undefined;
}
