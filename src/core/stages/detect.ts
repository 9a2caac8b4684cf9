/**
 * Runs the table of detectors over the facts, each over the kinds it names, and lets their memories age. Nearly every fact is about a
 * plain call: those go past the detectors that have nothing to say about them.
 */
import {
  type Detect,
  type DetectorContext,
  type DetectorSpec,
  isPlain,
  isPlainOperation,
} from '../detectors/detector.ts';
import { DETECTORS } from '../detectors/index.ts';
import type { ExchangeKey } from '../model/exchange.ts';
import type { Fact, FindingFact, VerdictFact } from '../model/facts.ts';
import { LIMITS, type StoreName } from '../model/limits.ts';
import type { Policy } from '../model/policy.ts';
import type { Emit } from '../stage.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

export interface DetectStage {
  push(fact: Fact, emit: Emit<FindingFact>): void;
  /** The same for the fact that comes once per exchange. */
  verdict(fact: VerdictFact, emit: Emit<FindingFact>): void;
  tick(now: number): void;
}

/** A detector that is shown plain calls. `store`: only while it holds something; null: always. */
interface OfPlain {
  readonly detect: Detect;
  readonly store: { readonly size: number } | null;
}

export function createDetect(health: StoreHealth, policy: Policy, exchangeKey: ExchangeKey): DetectStage {
  const byKind = new Map<Fact['is'], Detect[]>();
  const ofVerdict: Detect[] = [];
  const ofPlain: OfPlain[] = [];
  const ofPlainOperation: Detect[] = [];
  const stores = new Map<StoreName, BoundedMap<{ readonly ts: number }>>();
  const own = keepValues(health.parts, 'detect.sweep', { nextSweep: 0 });
  const context: DetectorContext = {
    health,
    policy,
    limits: policy.thresholds,
    exchangeKey,
    memory<V extends { readonly ts: number }>(store: StoreName, cap: number) {
      const map = new BoundedMap<V>(store, cap, health);
      stores.set(store, map as unknown as BoundedMap<{ readonly ts: number }>);
      return map;
    },
  };
  const storeOf = ({ rule, ignoresPlainWithout: name }: DetectorSpec): OfPlain['store'] => {
    if (name === undefined) return null;
    const store = stores.get(name);
    if (store === undefined) throw new Error(`${rule} has no memory ${name}`);
    return store;
  };
  for (const spec of DETECTORS) {
    const detect = spec.create(context);
    for (const kind of spec.on) {
      byKind.set(kind, [...(byKind.get(kind) ?? []), detect]);
      if (kind === 'verdict') ofVerdict.push(detect);
      if (spec.ignoresPlain === true) continue;
      if (kind === 'verdict') ofPlain.push({ detect, store: storeOf(spec) });
      if (kind === 'operation') ofPlainOperation.push(detect);
    }
  }
  return {
    push(fact, emit) {
      const detectors = fact.is === 'operation' && isPlainOperation(fact) ? ofPlainOperation : byKind.get(fact.is);
      if (detectors !== undefined) for (const detect of detectors) detect(fact, emit);
    },
    verdict(fact, emit) {
      if (!isPlain(fact)) {
        for (const detect of ofVerdict) detect(fact, emit);
        return;
      }
      for (const { detect, store } of ofPlain) if (store === null || store.size > 0) detect(fact, emit);
    },
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      for (const memory of stores.values()) memory.expire(now - LIMITS.memoryMs);
    },
  };
}
