/**
 * Which transport instance of the host makes an exchange, and which logical server that client talks to. Known by the SDK's client
 * object where calls are followed (settle), else by the one signal that a transport of revisions up to 2025-11-25 uses for all its
 * requests; else not at all, and then nothing is claimed.
 */
import type { LineFields, Lines } from '../writer/lines.ts';

export interface Client {
  readonly id: string;
  /** `host:port` where it made its handshake: an endpoint swapped beneath the client does not change the server. */
  server: string;
  state: 'open' | 'closed';
  /** A server has issued a session to it. */
  hadSession?: boolean;
}

export interface ClientQuery {
  /** The SDK's client object. */
  readonly instance: object | undefined;
  /** The signal of the request, where it is known to be the one of the transport. */
  readonly signal: AbortSignal | undefined;
  readonly endpoint: string;
  /** The request is the first one to a server. */
  readonly handshake: boolean;
}

export interface Clients {
  of(query: ClientQuery): Client | undefined;
  /** Is this the signal of a known client? */
  marks(signal: AbortSignal): boolean;
  /** The client of an SDK object that has made an exchange. */
  ofInstance(instance: object): Client | undefined;
  closed(client: Client): void;
  /** The SDK object connects (again). */
  connecting(instance: object): void;
  /** It begins a session; maybe not its first one. */
  initializing(client: Client): void;
  /** The server has done as asked, and ended its session. */
  sessionDeleted(client: Client): void;
}

export function createClients(lines: () => Lines, newId: () => string): Clients {
  const byInstance = new WeakMap<object, Client>();
  const bySignal = new WeakMap<AbortSignal, Client>();

  const create = (server: string): Client => {
    const client: Client = { id: newId(), server, state: 'open' };
    tell(client, 'created');
    return client;
  };
  const tell = ({ id, server }: Client, event: NonNullable<LineFields['event']>): void =>
    lines().emit('client', { client: id, server, event });
  const closed: Clients['closed'] = (client) => {
    if (client.state === 'closed') return;
    client.state = 'closed';
    tell(client, 'closed');
  };
  const watch = (signal: AbortSignal, client: Client): void => {
    bySignal.set(signal, client);
    // Weak in both directions: the listener goes with the signal.
    signal.addEventListener('abort', () => closed(client), { once: true });
  };

  return {
    of({ instance, signal, endpoint, handshake }) {
      let client = instance === undefined ? undefined : byInstance.get(instance);
      client ??= signal === undefined ? undefined : bySignal.get(signal);
      const moved = client !== undefined && handshake && client.server !== endpoint;
      if (client !== undefined && moved && instance !== undefined) client.server = endpoint;
      else if (moved) client = undefined;
      if (client === undefined && (instance !== undefined || signal !== undefined)) {
        client = create(endpoint);
        if (signal !== undefined && instance === undefined) watch(signal, client);
      }
      if (client !== undefined && instance !== undefined) {
        if (!byInstance.has(instance)) byInstance.set(instance, client);
        // What its transport does outside of any call (the end of a session) is told by the signal alone.
        if (signal !== undefined && !bySignal.has(signal)) bySignal.set(signal, client);
      }
      return client;
    },
    marks: (signal) => bySignal.has(signal),
    ofInstance: (instance) => byInstance.get(instance),
    closed,
    connecting(instance) {
      const client = byInstance.get(instance);
      if (client?.state !== 'closed') return;
      client.state = 'open';
      tell(client, 'reconnected');
    },
    initializing(client) {
      if (client.hadSession) tell(client, 'reinitialized');
    },
    sessionDeleted: (client) => tell(client, 'session_deleted'),
  };
}
