/**
 * Finds the classes of the SDK that makes a fetch, among its callers, by the names of their files. It loads nothing that the host did
 * not load itself: a CommonJS module is taken from the cache, an ES module is imported again only where one of its functions was just
 * seen running, which gives that very instance. No loader hook. An unknown package or shape gives undefined.
 */
import { Module } from 'node:module';
import { dirname, join } from 'node:path';
import { quietly } from '../quietly.ts';

export type SdkClass = abstract new (...args: never) => object;

export interface SdkCaller {
  /** Path or file URL of a module that is loaded. */
  readonly file: string;
  readonly isUrl: boolean;
  /** What it exports: the class of clients, or those of transports alone. */
  readonly exports: 'client' | 'transport';
}

export interface SdkClasses {
  readonly client?: SdkClass;
  readonly transports: readonly SdkClass[];
}

const CLIENT_PACKAGE = /[\\/]@modelcontextprotocol[\\/]client[\\/]dist[\\/]index\.[cm]?js$/;
const SDK_PACKAGE =
  /[\\/]@modelcontextprotocol[\\/]sdk[\\/]dist[\\/](?:esm|cjs)[\\/]client[\\/](streamableHttp|sse|index)\.js$/;
const TRANSPORTS = ['StreamableHTTPClientTransport', 'SSEClientTransport'] as const;
const DEPTH = 40;
const OF_ERRORS = ['prepareStackTrace', 'stackTraceLimit'] as const;

/** The files of the callers, from the innermost outwards. @throws where the host has taken stack traces into its own hands. */
function callerFiles(): string[] {
  const before = OF_ERRORS.map((name) => [name, Object.getOwnPropertyDescriptor(Error, name)] as const);
  // Assigning to an accessor would run code of the host.
  if (before.some(([, own]) => own !== undefined && own.writable !== true)) return [];
  const holder: { stack?: unknown } = {};
  try {
    // Raw names: source maps of the host would give those of the SDK's sources.
    Error.prepareStackTrace = (_error, sites) => sites;
    Error.stackTraceLimit = DEPTH;
    Error.captureStackTrace(holder, callerFiles);
    const sites = holder.stack as NodeJS.CallSite[];
    return Array.isArray(sites) ? sites.map((site) => site.getFileName() ?? '') : [];
  } finally {
    for (const [name, own] of before)
      if (own === undefined) Reflect.deleteProperty(Error, name);
      else Error[name] = own.value as never;
  }
}

/** To be called inside of the fetch, or of the transport's method. The client comes first, where both are running. */
export function findSdkCaller(): SdkCaller | undefined {
  let transport: SdkCaller | undefined;
  for (const file of quietly(callerFiles) ?? []) {
    const isUrl = file.startsWith('file:');
    if (CLIENT_PACKAGE.test(file)) return { file, isUrl, exports: 'client' };
    const name = SDK_PACKAGE.exec(file)?.[1];
    if (name === undefined) continue;
    if (name === 'index') return { file, isUrl, exports: 'client' };
    // Beside a CommonJS transport its client is in the cache, or not loaded.
    if (!isUrl) return { file: join(dirname(file), 'index.js'), isUrl, exports: 'client' };
    transport ??= { file, isUrl, exports: 'transport' };
  }
  return transport;
}

/** The classes of that very module instance. */
export function loadSdkClasses({ file, isUrl }: SdkCaller): SdkClasses | Promise<SdkClasses> {
  if (isUrl)
    return import(file).then(
      (module) => classesIn(module),
      () => classesIn(undefined),
    );
  return classesIn(loaded()[file]?.exports);
}

/** What `require` has loaded, whoever called it. */
const loaded = () => (Module as unknown as { _cache: NodeJS.Dict<{ exports?: unknown }> })._cache;

function classesIn(module: unknown): SdkClasses {
  const members = (module ?? {}) as Readonly<Record<string, unknown>>;
  const client = classWith(members.Client, ['connect', 'close', 'request', 'callTool']);
  const transports = TRANSPORTS.map((name) => classWith(members[name], ['start', 'send', 'close']));
  return { ...(client && { client }), transports: transports.filter((each) => each !== undefined) };
}

function classWith(value: unknown, methods: readonly string[]): SdkClass | undefined {
  if (typeof value !== 'function') return undefined;
  const prototype = value.prototype as Record<string, unknown>;
  return methods.every((name) => typeof prototype[name] === 'function') ? (value as unknown as SdkClass) : undefined;
}
