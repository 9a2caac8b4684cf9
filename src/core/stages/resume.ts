/**
 * Row 6 of the verdict table: a response stream that carried event ids and ended without its answer is suspended until a
 * resume GET brings the terminal message, or none opened in time. Every other exchange passes straight through with its verdict.
 */

import type { Due } from '../model/due.ts';
import { type Exchange, isResumeLeg, recordsOf } from '../model/exchange.ts';
import { clientKey } from '../model/exchange-names.ts';
import { LINE_FIELDS } from '../model/fields.ts';
import { pickFields } from '../model/keep.ts';
import { LIMITS } from '../model/limits.ts';
import type { Policy } from '../model/policy.ts';
import type { JudgedKind, StreamKind, Verdict } from '../model/verdict.ts';
import type { Emit, Stage } from '../stage.ts';
import { keepMap } from '../state.ts';
import { BoundedMap, type StoreHealth, TimerQueue } from '../store.ts';
import { type Decision, decide, decideUnresumed, isJudged, kindOf, verdictOf } from './classify.ts';
import type { Revive } from './revive.ts';
import { factsOf, keptFacts, type StreamFacts } from './stream-facts.ts';

export interface Judged {
  readonly is: 'judged';
  readonly exchange: Exchange;
  readonly kind: StreamKind;
  /** null: this kind gets none. */
  readonly verdict: Verdict | null;
  /** Event time at which the verdict stood: the close, or the end of the suspension. */
  readonly at: number;
  /** It was suspended before, so its operation knows it already. */
  readonly resolved: boolean;
  /** The GET that brought the answer of a suspended exchange. */
  readonly leg: Exchange | null;
}
export interface SuspendedExchange {
  readonly is: 'suspended';
  readonly exchange: Exchange;
  readonly stage: Verdict['stage'];
}
export type Classified = Judged | SuspendedExchange;

interface Suspended extends Due {
  readonly key: string;
  readonly exchange: Exchange;
  readonly facts: StreamFacts;
  readonly scope: string;
  /** Digest of the last event id seen; undefined where the tap reports none. */
  digest: string | undefined;
  /** Key of the resume GET that is open for it. */
  leg: string | null;
  /** Event time of its close or of the end of its last leg. */
  since: number;
}

export interface Resume {
  opened(exchange: Exchange, emit: Emit<Classified>): void;
  /** Both ends of the exchange are known: emits its verdict, or that it is suspended. */
  closed(exchange: Exchange, emit: Emit<Classified>): void;
  /** The wait of this exchange is over. */
  overdue(key: string, emit: Emit<Classified>): void;
  /** A resume leg that never closed. */
  expired(exchange: Exchange): void;
  tick: Stage<never, Classified>['tick'];
}

export function createResume(policy: Policy, health: StoreHealth, revive: Revive): Resume {
  let out: Emit<Classified> = () => {};
  // Before its timers: what is written first is written with its fields packed.
  const suspended = new BoundedMap<Suspended>(
    ...(['suspended', LIMITS.suspended, health] as const),
    (entry) => giveUp(entry),
    { records: ({ exchange }) => recordsOf(exchange), revive: ({ exchange }) => revive.exchange(exchange) },
  );
  const timers = new TimerQueue<Suspended>('suspended', health);
  /** The same by client and server, oldest first. */
  const byScope = keepMap<string, Set<Suspended>>(health.parts, 'suspended_by_scope');
  const legs = keepMap<string, Suspended>(health.parts, 'suspended_by_leg');

  const scopeOf = (exchange: Exchange): string =>
    `${clientKey(exchange.host, exchange.client, exchange.server)}\n${exchange.server}`;

  const settle = (entry: Suspended, decision: Decision, at: number, leg: Exchange | null = null): void => {
    suspended.delete(entry.key);
    const siblings = byScope.get(entry.scope);
    siblings?.delete(entry);
    if (siblings?.size === 0) byScope.delete(entry.scope);
    timers.cancel(entry);
    if (entry.leg !== null) legs.delete(entry.leg);
    const { exchange, facts } = entry;
    out({
      is: 'judged',
      exchange,
      kind: facts.kind,
      verdict: verdictOf(exchange, facts, decision),
      at,
      resolved: true,
      leg,
    });
  };
  const giveUp = (entry: Suspended): void =>
    settle(entry, decideUnresumed(entry.facts), entry.since + LIMITS.resumeWindowMs);

  const suspend = (exchange: Exchange, facts: StreamFacts): void => {
    // It outlives its line.
    exchange.fields = pickFields(exchange.fields, LINE_FIELDS.close);
    const digest = exchange.lastEventDigest;
    const entry: Suspended = {
      key: exchange.key,
      exchange,
      facts,
      scope: scopeOf(exchange),
      digest,
      leg: null,
      since: exchange.closeTs,
      deadline: exchange.closeTs + LIMITS.resumeWindowMs,
      place: null,
    };
    exchange.waitsUntil = entry.deadline;
    suspended.set(entry.key, entry);
    const siblings = byScope.get(entry.scope);
    if (siblings === undefined) byScope.set(entry.scope, new Set([entry]));
    else siblings.add(entry);
    timers.schedule(entry);
    out({ is: 'suspended', exchange, stage: facts.cut === 'mid' ? 'mid_event' : 'between_events' });
  };

  /** By the digest of the event id, else the oldest whose digest cannot tell; digests that differ are another stream's. */
  const match = (leg: Exchange): Suspended | undefined => {
    if (suspended.size === 0) return undefined;
    const digest = leg.fields.event_id_digest ?? undefined;
    let oldest: Suspended | undefined;
    for (const entry of byScope.get(scopeOf(leg)) ?? []) {
      // A leg known by its close line alone may come when the wait is over, even if no tick has said so yet.
      if (entry.leg !== null || leg.lastTs > entry.deadline) continue;
      if (leg.openTs < entry.since || leg.openTs > entry.since + LIMITS.resumeWindowMs) continue;
      if (digest !== undefined && entry.digest === digest) return entry;
      if ((digest === undefined || entry.digest === undefined) && oldest === undefined) oldest = entry;
    }
    return oldest;
  };

  const bind = (leg: Exchange): Suspended | undefined => {
    const bound = legs.get(leg.key);
    if (bound !== undefined) return bound;
    const entry = match(leg);
    if (entry === undefined) return undefined;
    entry.leg = leg.key;
    leg.takesUp = true;
    timers.cancel(entry);
    entry.exchange.waitsUntil = Number.POSITIVE_INFINITY;
    legs.set(leg.key, entry);
    return entry;
  };

  const release = (entry: Suspended, leg: Exchange, at: number): void => {
    legs.delete(leg.key);
    // One that was refused is a finding of its own.
    if ((leg.fields.status ?? 200) < 300) entry.exchange.resumes++;
    entry.leg = null;
    entry.since = at;
    entry.digest = leg.eventId ? leg.lastEventDigest : entry.digest;
    entry.deadline = at + LIMITS.resumeWindowMs;
    entry.exchange.waitsUntil = entry.deadline;
    timers.schedule(entry);
  };

  /** Waits of the same client that are over by the clock of its own line, though no tick has said so yet. */
  const giveUpDue = (exchange: Exchange): void => {
    if (suspended.size === 0 || timers.earliest() >= exchange.lastTs) return;
    for (const entry of [...(byScope.get(scopeOf(exchange)) ?? [])])
      if (entry.deadline < exchange.lastTs) giveUp(entry);
  };

  return {
    opened(exchange, emit) {
      out = emit;
      giveUpDue(exchange);
      if (isResumeLeg(exchange)) bind(exchange);
    },
    closed(exchange, emit) {
      out = emit;
      giveUpDue(exchange);
      const kind = kindOf(exchange);
      if (kind === 'resume') {
        const entry = bind(exchange);
        if (entry !== undefined) {
          if (exchange.terminal)
            settle(entry, { outcome: 'clean', cause: 'resumed', row: 6 }, exchange.closeTs, exchange);
          else release(entry, exchange, exchange.closeTs);
        }
      }
      if (!isJudged(kind)) {
        emit({ is: 'judged', exchange, kind, verdict: null, at: exchange.closeTs, resolved: false, leg: null });
        return;
      }
      const facts = factsOf(exchange, kind as JudgedKind, policy.cutMid);
      const decision = decide(facts);
      if (decision === 'suspended') suspend(exchange, keptFacts(facts));
      else {
        const verdict = verdictOf(exchange, facts, decision);
        emit({ is: 'judged', exchange, kind, verdict, at: exchange.closeTs, resolved: false, leg: null });
      }
    },
    overdue(key, emit) {
      out = emit;
      const entry = suspended.get(key);
      if (entry !== undefined) giveUp(entry);
    },
    expired(exchange) {
      const entry = legs.get(exchange.key);
      if (entry !== undefined) release(entry, exchange, exchange.lastTs);
    },
    tick(now, emit) {
      out = emit;
      timers.expire(now, giveUp);
    },
  };
}
