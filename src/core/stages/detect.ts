/** Runs the table of detectors over the facts, each over the kinds it names, and lets their memories age. */
import { type Detect, type DetectorContext, isPlain } from '../detectors/detector.ts';
import { DETECTORS } from '../detectors/index.ts';
import type { ExchangeKey } from '../model/exchange.ts';
import type { Fact, FindingFact } from '../model/facts.ts';
import { LIMITS } from '../model/limits.ts';
import type { Policy } from '../model/policy.ts';
import type { Emit } from '../stage.ts';
import { keepValues } from '../state.ts';
import { BoundedMap, type StoreHealth } from '../store.ts';

export interface DetectStage {
  push(fact: Fact, emit: Emit<FindingFact>): void;
  tick(now: number): void;
}

export function createDetect(health: StoreHealth, policy: Policy, exchangeKey: ExchangeKey): DetectStage {
  const byKind = new Map<Fact['is'], Detect[]>();
  const ofPlain = new Map<Fact['is'], Detect[]>();
  const memories: { expire(before: number): void }[] = [];
  const own = keepValues(health.parts, 'detect.sweep', { nextSweep: 0 });
  const context: DetectorContext = {
    health,
    policy,
    limits: policy.thresholds,
    exchangeKey,
    memory<V extends { readonly ts: number }>(store: Parameters<DetectorContext['memory']>[0], cap: number) {
      const map = new BoundedMap<V>(store, cap, health);
      memories.push({ expire: (before) => map.expire(before) });
      return map;
    },
  };
  for (const spec of DETECTORS) {
    const detect = spec.create(context);
    for (const kind of spec.on) {
      byKind.set(kind, [...(byKind.get(kind) ?? []), detect]);
      if (spec.ignoresPlain !== true) ofPlain.set(kind, [...(ofPlain.get(kind) ?? []), detect]);
    }
  }
  return {
    push(fact, emit) {
      const detectors = (isPlain(fact) ? ofPlain : byKind).get(fact.is);
      if (detectors !== undefined) for (const detect of detectors) detect(fact, emit);
    },
    tick(now) {
      if (now < own.nextSweep) return;
      own.nextSweep = now + LIMITS.sweepMs;
      for (const memory of memories) memory.expire(now - LIMITS.memoryMs);
    },
  };
}
