/**
 * What other lines prove about an exchange: the contract of its server when it opened, a cancellation that names it, the
 * deletion of its session, the end of its carrier. Bounded memories, asked once when the exchange closes.
 */
import type { WireEvent } from '../model/event.ts';
import { type Contract, clientKey, type Exchange, type ExchangeKey } from '../model/exchange.ts';
import { LIMITS } from '../model/limits.ts';
import type { ServerPolicy } from '../model/policy.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

interface Note {
  readonly ts: number;
}
interface Announcements extends Note {
  readonly all: readonly { readonly ts: number; readonly contract: Contract }[];
}
interface Deletion extends Note {
  /** The DELETE that says so, until its answer is known. */
  readonly by: string | null;
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

/** Announcements kept per server: an exchange may have opened before the latest one. */
const KEPT_ANNOUNCEMENTS = 4;

export function createContext(exchangeKey: ExchangeKey, health: StoreHealth): Context {
  const contracts = new BoundedMap<Announcements>('contracts', LIMITS.contracts, health);
  const deletions = new BoundedMap<Deletion>('clients', LIMITS.clients, health);
  const cancels = new BoundedMap<Note>('cancels', LIMITS.cancels, health);
  const carriers = new BoundedMap<Note>('carriers', LIMITS.carriers, health);

  let nextSweep = 0;

  const cancelKey = (exchange: Exchange, rpcId: string): string =>
    `${clientKey(exchange.host, exchange.client, exchange.server)}\n${rpcId}`;

  /** A cancellation names a request by rpc id within one client, or by exchange; it explains what ends after it. */
  const wasCancelled = (exchange: Exchange): boolean => {
    if (cancels.size === 0) return false;
    const within = (note: Note | undefined): boolean =>
      note !== undefined && exchange.openTs <= note.ts && note.ts <= exchange.closeTs;
    const rpcId = exchange.fields.rpc_id;
    return (
      within(cancels.get(exchange.key)) ||
      (rpcId !== undefined && rpcId !== null && within(cancels.get(cancelKey(exchange, rpcId))))
    );
  };

  const wasDeleted = (exchange: Exchange): boolean => {
    if (deletions.size === 0 || exchange.fields.session === false) return false;
    const deletion = deletions.get(clientKey(exchange.host, exchange.client, exchange.server));
    return deletion !== undefined && exchange.openTs <= deletion.ts && deletion.ts <= exchange.closeTs;
  };

  const contractAt = (server: string, configured: ServerPolicy | undefined, ts: number): Contract | undefined => {
    // Without an announcement before it opened, nothing was promised to this exchange.
    const known = contracts.get(server)?.all;
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
      const all = [...(contracts.get(server)?.all ?? []), { ts, contract }].sort((a, b) => a.ts - b.ts);
      contracts.set(server, { ts, all: all.slice(-KEPT_ANNOUNCEMENTS) });
      return combine(configured, all.at(-1)?.contract);
    },
    sessionDeleted(client, ts) {
      deletions.set(client, { ts, by: null });
    },
    carrierClosed(key, ts) {
      carriers.set(key, { ts });
    },
    noteRequest(exchange) {
      const named = exchange.fields.cancel_of;
      if (named !== undefined && named !== null) {
        const note = { ts: exchange.openTs };
        cancels.set(cancelKey(exchange, named), note);
        cancels.set(exchangeKey(exchange.host, named), note);
      }
      if (exchange.http === 'DELETE' && exchange.fields.how === undefined)
        deletions.set(clientKey(exchange.host, exchange.client, exchange.server), {
          ts: exchange.openTs,
          by: exchange.key,
        });
    },
    attachAtClose(exchange, stateOf) {
      exchange.contract = contractAt(exchange.server, exchange.policy, exchange.openTs);
      exchange.cancelled = wasCancelled(exchange);
      exchange.sessionDeleted = wasDeleted(exchange);
      const { carrier } = exchange.fields;
      if (carrier !== undefined && carrier !== null) {
        const state = carriers.has(exchangeKey(exchange.host, carrier))
          ? 'closed'
          : stateOf(exchangeKey(exchange.host, carrier));
        // The tap closes such a POST when its answer came or its carrier ended: an unseen carrier is no living one.
        exchange.carrierEnded = state === 'closed' || (state === 'unknown' && isAccepted(exchange.fields.status));
      }
      if (exchange.http === 'DELETE') noteDelete(exchange);
    },
    tick(now) {
      if (now < nextSweep) return;
      nextSweep = now + LIMITS.sweepMs;
      const before = now - LIMITS.memoryMs;
      contracts.expire(before);
      deletions.expire(before);
      cancels.expire(before);
      carriers.expire(before);
    },
  };

  /** A DELETE that was refused deleted nothing; one known by its close line alone counts from its open time. */
  function noteDelete(exchange: Exchange): void {
    const key = clientKey(exchange.host, exchange.client, exchange.server);
    const known = deletions.get(key);
    if (isAccepted(exchange.fields.status)) {
      if (known === undefined || known.by === exchange.key) deletions.set(key, { ts: exchange.openTs, by: null });
    } else if (known?.by === exchange.key) deletions.delete(key);
  }
}

const isAccepted = (status: number | null | undefined): boolean =>
  status === undefined || status === null || (status >= 200 && status < 300);

const _sameClient = (a: Exchange, b: Exchange): boolean =>
  clientKey(a.host, a.client, a.server) === clientKey(b.host, b.client, b.server);

/** Field by field: operator configuration first (design section 3). */
function combine(configured: ServerPolicy | undefined, announced: Contract | undefined): Contract | undefined {
  const sentinel = configured?.sentinel ?? announced?.sentinel;
  const selfDelimiting = configured?.selfDelimiting ?? announced?.selfDelimiting;
  if (sentinel === undefined && selfDelimiting === undefined) return undefined;
  return { sentinel, selfDelimiting };
}
