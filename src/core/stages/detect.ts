/** Runs the table of detectors over every fact. */
import { DETECTORS } from '../detectors/index.ts';
import type { Fact, FindingFact } from '../model/facts.ts';
import type { Emit } from '../stage.ts';
import type { StoreHealth } from '../store.ts';

export function createDetect(health: StoreHealth): (fact: Fact, emit: Emit<FindingFact>) => void {
  const detectors = DETECTORS.map((spec) => spec.create(health));
  return (fact, emit) => {
    for (const detector of detectors) detector.on(fact, emit);
  };
}
