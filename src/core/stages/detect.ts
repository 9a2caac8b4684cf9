/** Runs the table of detectors over the facts, each over the kind it names. */
import { DETECTORS } from '../detectors/index.ts';
import type { Fact, FindingFact } from '../model/facts.ts';
import type { Emit } from '../stage.ts';
import type { StoreHealth } from '../store.ts';

export function createDetect(health: StoreHealth): (fact: Fact, emit: Emit<FindingFact>) => void {
  const byKind = new Map<Fact['is'], ReturnType<(typeof DETECTORS)[number]['create']>[]>();
  for (const spec of DETECTORS) byKind.set(spec.on, [...(byKind.get(spec.on) ?? []), spec.create(health)]);
  return (fact, emit) => {
    const detectors = byKind.get(fact.is);
    if (detectors !== undefined) for (const detect of detectors) detect(fact, emit);
  };
}
