/**
 * Who sent an exchange and what it asked for, as keys and hashes of names. Several stages and detectors ask for each of them, so each is
 * put together once and noted on the exchange. They must say nothing that its fields do not say.
 */
import type { Exchange } from './exchange.ts';
import { hash53 } from './hash53.ts';
import { createPairs, type Pair } from './pair-keys.ts';

const clients = createPairs();
const tools = createPairs();

/** One transport instance; exchanges without a client are told apart by server at least. */
export function clientKey(host: string, client: string | null, server: string): string {
  return client === null ? `${host}\n\n${server}` : clients(host, client).key;
}

/** Key of the transport instance that sent it. */
export const clientOf = (exchange: Exchange): string =>
  exchange.client === null
    ? clientKey(exchange.host, null, exchange.server)
    : knownClientOf(exchange, exchange.client).key;

/** The same with its hash, of one that is named. */
export function knownClientOf(exchange: Exchange, client: string): Pair {
  exchange.ofClient ??= clients(exchange.host, client);
  return exchange.ofClient;
}

/** Server and tool (or other target) together. */
export function toolOf(exchange: Exchange): Pair {
  exchange.ofTool ??= tools(exchange.server, exchange.fields.target ?? '');
  return exchange.ofTool;
}

/** Hash of the JSON-RPC id; 0: not known. */
export function rpcHash(exchange: Exchange): number {
  const { rpc_id: id } = exchange.fields;
  exchange.ofRpc ??= typeof id === 'string' ? hash53(id) : 0;
  return exchange.ofRpc;
}
