/**
 * What other lines prove about an exchange: the contract of its server when it opened, a cancellation that names it, the
 * deletion of its session, the end of its carrier. Bounded memories, asked once when the exchange closes.
 */
import type { WireEvent } from '../model/event.ts';
import type { Contract, Exchange, ExchangeKey } from '../model/exchange.ts';
import { clientKey } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import type { ServerPolicy } from '../model/policy.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

interface Note {
  readonly ts: number;
}
interface Announcements {
  ts: number;
  readonly all: readonly { readonly ts: number; readonly contract: Contract }[];
}
interface Cancel extends Note {
  readonly client: string;
}
interface Deletion extends Note {
  readonly all: readonly {
    readonly ts: number;
    /** The DELETE that says so, until its answer is known. */
    readonly by: string | null;
  }[];
}

export interface Context {
  /** A `discovery` line: replaces what was known of the server, whole. */
  discovered(server: string, configured: ServerPolicy | undefined, event: WireEvent): Contract | undefined;
  sessionDeleted(client: string, ts: number): void;
  carrierClosed(key: string, ts: number): void;
  /** The first line (or the `open` line) of an exchange: a cancellation or a DELETE says something about others. */
  noteRequest(exchange: Exchange): void;
  attachAtClose(exchange: Exchange, stateOf: (key: string) => 'open' | 'closed' | 'unknown'): void;
  tick(now: number): void;
}

/** Announcements kept per server, deletions per client: an exchange may have opened before the latest one. */
const KEPT_PER_KEY = 16;

export function createContext(exchangeKey: ExchangeKey, health: StoreHealth): Context {
  // No TTL: a contract holds until it is replaced.
  const contracts = new BoundedMap<Announcements>('contracts', LIMITS.contracts, health);
  const deletions = new BoundedMap<Deletion>('clients', LIMITS.clients, health);
  const cancels = new BoundedMap<Cancel>('cancels', LIMITS.cancels, health);
  const carriers = new BoundedMap<Note>('carriers', LIMITS.carriers, health);

  const own = keepValues(health.parts, 'context.sweep', { nextSweep: 0 });

  const cancelKey = (exchange: Exchange, rpcId: string): string =>
    `${clientKey(exchange.host, exchange.client, exchange.server)}\n${rpcId}`;

  /** A cancellation names a request of its client, by rpc id or by exchange; it explains what ends after it. */
  const wasCancelled = (exchange: Exchange): boolean => {
    if (cancels.size === 0) return false;
    const { closeTs, openTs, openKnown } = exchange;
    const client = clientKey(exchange.host, exchange.client, exchange.server);
    const named = cancels.get(exchange.key);
    // Ids of exchanges do not come again, so a lone close line without its open time is no obstacle.
    if (named?.client === client && named.ts <= closeTs && (!openKnown || openTs <= named.ts)) return true;
    const rpcId = exchange.fields.rpc_id ?? null;
    const byId = rpcId === null ? undefined : cancels.get(cancelKey(exchange, rpcId));
    if (byId === undefined || byId.ts > closeTs) return false;
    // Nor do the rpc ids of a client, within the life of a request.
    return openKnown ? openTs <= byId.ts : closeTs - byId.ts <= LIMITS.expireResponseMs;
  };

  const noteDeletion = (client: string, ts: number, by: string | null): void => {
    const known = (deletions.get(client)?.all ?? []).filter((each) => by === null || each.by !== by);
    deletions.set(client, { ts, all: [...known, { ts, by }].slice(-KEPT_PER_KEY) });
  };
  const wasDeleted = (exchange: Exchange): boolean => {
    const { session } = exchange.fields;
    if (deletions.size === 0 || session === false || session === null) return false;
    const deletion = deletions.get(clientKey(exchange.host, exchange.client, exchange.server));
    return deletion?.all.some(({ ts }) => exchange.openTs <= ts && ts <= exchange.closeTs) === true;
  };

  const contractAt = (server: string, configured: ServerPolicy | undefined, ts: number): Contract | undefined => {
    // Without an announcement before it opened, nothing was promised to this exchange.
    const entry = contracts.size === 0 ? undefined : contracts.get(server);
    const known = entry?.all;
    // In use: its 24 hours start again.
    if (entry !== undefined) entry.ts = Math.max(entry.ts, ts);
    let announced: Contract | undefined;
    for (let i = (known?.length ?? 0) - 1; i >= 0 && announced === undefined; i--) {
      const candidate = (known as Announcements['all'])[i] as Announcements['all'][number];
      if (candidate.ts <= ts) announced = candidate.contract;
    }
    return combine(configured, announced);
  };

  return {
    discovered(server, configured, { fields, ts }) {
      const contract: Contract = {
        sentinel: fields.sentinel === null ? 'optional' : fields.sentinel,
        selfDelimiting: fields.self_delimiting === null ? false : fields.self_delimiting,
      };
      const all = [...(contracts.get(server)?.all ?? []), { ts, contract }]
        .sort((a, b) => a.ts - b.ts)
        // Discovery before every request mostly says the same again.
        .filter((each, i, sorted) => i === 0 || !sameContract(each.contract, sorted[i - 1]?.contract));
      contracts.set(server, { ts, all: all.slice(-KEPT_PER_KEY) });
      return combine(configured, all.at(-1)?.contract);
    },
    sessionDeleted(client, ts) {
      noteDeletion(client, ts, null);
    },
    carrierClosed(key, ts) {
      carriers.set(key, { ts });
    },
    noteRequest(exchange) {
      const named = exchange.fields.cancel_of;
      if (named !== undefined && named !== null) {
        const note = { ts: exchange.openTs, client: clientKey(exchange.host, exchange.client, exchange.server) };
        cancels.set(cancelKey(exchange, named), note);
        cancels.set(exchangeKey(exchange.host, named), note);
      }
      if (exchange.http === 'DELETE' && exchange.fields.how === undefined)
        noteDeletion(clientKey(exchange.host, exchange.client, exchange.server), exchange.openTs, exchange.key);
    },
    attachAtClose(exchange, stateOf) {
      exchange.contract = contractAt(exchange.server, exchange.policy, exchange.openTs);
      exchange.cancelled = wasCancelled(exchange);
      exchange.sessionDeleted = wasDeleted(exchange);
      const { carrier, status } = exchange.fields;
      if (typeof carrier === 'string') {
        const key = exchangeKey(exchange.host, carrier);
        // The tap closes an accepted POST when its answer came or its carrier ended, in whatever order the lines come.
        const isKnownEnded = carriers.has(key) || (key !== exchange.key && stateOf(key) === 'closed');
        exchange.carrierEnded = isAccepted(status) || isKnownEnded;
      }
      if (exchange.http === 'DELETE') noteDelete(exchange);
    },
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      const before = now - LIMITS.memoryMs;
      deletions.expire(before);
      cancels.expire(before);
      carriers.expire(before);
    },
  };

  /** A DELETE that was refused or never arrived deleted nothing; one known by its close line alone counts from its open time. */
  function noteDelete(exchange: Exchange): void {
    const key = clientKey(exchange.host, exchange.client, exchange.server);
    const { status, how } = exchange.fields;
    if (typeof status === 'number' ? isAccepted(status) : how === 'eof') {
      noteDeletion(key, exchange.openTs, exchange.key);
      return;
    }
    const known = deletions.get(key);
    if (known !== undefined) deletions.set(key, { ...known, all: known.all.filter(({ by }) => by !== exchange.key) });
  }
}

const sameContract = (a: Contract, b: Contract | undefined): boolean =>
  a.sentinel === b?.sentinel && a.selfDelimiting === b?.selfDelimiting;

const isAccepted = (status: number | null | undefined): boolean =>
  status === undefined || status === null || (status >= 200 && status < 300);

/** Field by field: operator configuration first (design section 3). */
function combine(configured: ServerPolicy | undefined, announced: Contract | undefined): Contract | undefined {
  const sentinel = configured?.sentinel ?? announced?.sentinel;
  const selfDelimiting = configured?.selfDelimiting ?? announced?.selfDelimiting;
  if (sentinel === undefined && selfDelimiting === undefined) return undefined;
  return { sentinel, selfDelimiting };
}
