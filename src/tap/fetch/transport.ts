/**
 * What undici says about the connection beneath a fetch: how much of the request was written, and on which connection. It listens to
 * diagnostics_channel. undici makes its request while fetch is being called, which tells whose it is; where a wrapper in between does not
 * call on at once, an AsyncLocalStorage tells. It cannot alter anything, and it keeps no
 * address. Fetches of an npm copy of undici use the same channels: they belong to no exchange, and are counted.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { createHidden } from '../hidden.ts';
import type { LineFields } from '../writer/lines.ts';

/** Filled while the request is under way. */
export interface Transport {
  /** The fetch has not settled. What it started may live longer and carry its context on. */
  active?: boolean;
  sent?: 'none' | 'headers' | 'body';
  connection?: NonNullable<LineFields['connection']>;
}

export interface TransportWatch {
  /** Calls the fetch of one exchange. */
  run<T>(transport: Transport, fetch: () => T): T;
  /** Calls a fetch that is not recorded: what it sends was seen, and passed over for a reason. */
  past<T>(fetch: () => T): T;
  /** To be called once after `run`, when the fetch has settled. */
  ended(transport: Transport, answered: boolean): void;
  /** There are several wrapped functions: one may call another one, and not at once. */
  nested(): void;
  /** Is this call made inside of the fetch of an exchange? */
  readonly inside: boolean;
}

interface UndiciRequest {
  readonly method?: unknown;
  readonly headers?: unknown;
}
interface Connection {
  readonly id: string;
  /** undefined: not yet. */
  lastUsed: number | undefined;
}
/** Stands for all calls that are not recorded. */
const PAST: Transport = { active: false };
/** It was opened before anybody listened. */
const UNKNOWN = Number.NaN;

const MCP_HEADER = /^mcp-(session-id|protocol-version)$/i;
const MCP_HEADER_LINE = /^mcp-(session-id|protocol-version):/im;

/** Headers are one text in undici 5 and 6, a flat list of names and values in 7. Token requests of OAuth carry none of these. */
function speaksMcp({ method, headers }: UndiciRequest): boolean {
  if (method !== 'POST') return false;
  if (typeof headers === 'string') return MCP_HEADER_LINE.test(headers);
  if (!Array.isArray(headers)) return false;
  return headers.some((name, index) => index % 2 === 0 && MCP_HEADER.test(String(name)));
}

export interface TransportOptions {
  readonly now: () => number;
  /** Tells the connections of this process from those of others. */
  readonly prefix: string;
  /** A request that looks like MCP was made by a fetch that the tap does not see. */
  readonly onUnseen: () => void;
}

export function createTransportWatch({ now, prefix, onUnseen }: TransportOptions): TransportWatch {
  const context = new AsyncLocalStorage<Transport>();
  /** The exchange whose fetch is being called: undici makes its request before that call returns. */
  let running: Transport | undefined;
  /** A context costs every promise of the process some time on Node 20 and 22: not before it is needed. */
  let byContext = false;
  /** Exchanges whose head has not arrived. */
  let waiting = 0;
  const known = createHidden<Transport>();
  const sockets = new WeakMap<object, Connection>();
  const carriers = createHidden<Connection>();
  let connections = 0;
  let listening = false;
  const nextId = (): string => `${prefix}-${++connections}`;
  const describe = ({ id, lastUsed }: Connection): NonNullable<Transport['connection']> => {
    if (lastUsed === undefined) return { id, reused: false };
    return { id, reused: true, ...(Number.isNaN(lastUsed) ? {} : { idle_ms: Math.max(0, now() - lastUsed) }) };
  };

  const on = (name: string, hear: (message: { request: UndiciRequest; socket?: object }) => void): void =>
    subscribe(`undici:${name}`, (message) => {
      try {
        hear(message as { request: UndiciRequest; socket?: object });
      } catch {
        // A shape that this version of undici does not have: the facts stay unknown.
      }
    });

  on('request:create', ({ request }) => {
    const transport = running ?? context.getStore();
    if (transport?.active === true) {
      known.set(request, transport);
      transport.sent = 'none';
      // While an exchange waits for its head, this may be the next hop of its redirect.
    } else if (running !== PAST && waiting === 0 && speaksMcp(request)) onUnseen();
  });

  /** Not before the first exchange: a process that never speaks MCP has nothing to hear here. */
  function listen(): void {
    listening = true;
    on('client:connected', ({ socket }) => {
      if (socket !== undefined) sockets.set(socket, { id: nextId(), lastUsed: undefined });
    });
    on('client:sendHeaders', ({ request, socket }) => {
      const transport = known.get(request);
      if (transport !== undefined) transport.sent = 'headers';
      if (socket === undefined) return;
      const connection = sockets.get(socket) ?? { id: nextId(), lastUsed: UNKNOWN };
      sockets.set(socket, connection);
      carriers.set(request, connection);
      if (transport !== undefined) transport.connection = describe(connection);
      connection.lastUsed = now();
    });
    on('request:bodySent', ({ request }) => {
      const transport = known.get(request);
      if (transport !== undefined) transport.sent = 'body';
    });
    const ended = ({ request }: { request: UndiciRequest }): void => {
      const connection = carriers.get(request);
      if (connection !== undefined) connection.lastUsed = now();
    };
    on('request:trailers', ended);
    on('request:error', ended);
  }

  return {
    run(transport, fetch) {
      if (!listening) listen();
      waiting++;
      transport.active = true;
      if (byContext) return context.run(transport, fetch);
      const outer = running;
      running = transport;
      try {
        return fetch();
      } finally {
        running = outer;
      }
    },
    past(fetch) {
      const outer = running;
      running ??= PAST;
      try {
        return fetch();
      } finally {
        running = outer;
      }
    },
    ended(transport, answered) {
      waiting--;
      transport.active = false;
      // Something between here and undici waits before it makes the request: only its context leads back.
      if (answered && transport.sent === undefined) byContext = true;
    },
    nested() {
      byContext = true;
    },
    get inside() {
      return (running !== undefined && running !== PAST) || (byContext && context.getStore()?.active === true);
    },
  };
}
