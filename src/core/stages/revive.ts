/**
 * Puts right what is read back from a stored state: words of the configuration come from the one in force now, verdicts are those of
 * this process, names are the strings that every later line shares. It must not change what a record says.
 */
import type { Exchange } from '../model/exchange.ts';
import { intern } from '../model/intern.ts';
import type { Attempt, Operation } from '../model/operation.ts';
import type { Policy, ServerPolicy } from '../model/policy.ts';
import type { Verdict } from '../model/verdict.ts';
import type { PackedRows } from './rows.ts';
import { sameVerdict } from './same-verdict.ts';

export interface Revive {
  exchange(exchange: Exchange): void;
  attempt(attempt: Attempt): void;
  rows(rows: PackedRows): void;
}

const shared = (name: string | null): string | null => (name === null ? null : intern(name));

export function createRevive(policy: Policy): Revive {
  const byName = new Map(policy.servers.map((server) => [server.name, server]));
  /** A server that is not configured any more has no policy. */
  const named = (saved: ServerPolicy | undefined): ServerPolicy | undefined =>
    saved === undefined ? undefined : byName.get(saved.name);
  const seen = new Set<Operation>();

  const attempt = (each: Attempt): void => {
    each.policy = named(each.policy);
    if (each.verdict !== null) each.verdict = sameVerdict(each.verdict);
    each.server = intern(each.server);
    each.host = intern(each.host);
    each.method = shared(each.method);
    each.target = shared(each.target);
    each.client = shared(each.client);
    each.endpoint = shared(each.endpoint);
    const { operation } = each;
    if (operation === null || seen.has(operation)) return;
    seen.add(operation);
    operation.policy = named(operation.policy);
    for (const other of operation.attempts) if (other !== each) attempt(other);
  };

  const word = (saved: unknown): unknown => {
    if (typeof saved === 'string') return intern(saved);
    if (typeof saved !== 'object' || saved === null) return saved;
    if ('closeTs' in saved) attempt(saved as unknown as Attempt);
    else if ('name' in saved) return named(saved as ServerPolicy);
    else if ('outcome' in saved) return sameVerdict(saved as Verdict);
    return saved;
  };

  return {
    exchange(exchange) {
      exchange.policy = named(exchange.policy);
    },
    attempt,
    rows(rows) {
      rows.words = rows.words.map(word);
    },
  };
}
