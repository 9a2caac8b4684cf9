/** The contract of a detector: facts in, findings out. No detector knows another one; each keeps bounded memory of its own. */
import type { Fact, FindingFact } from '../model/facts.ts';
import type { Emit } from '../stage.ts';
import type { StoreHealth } from '../store.ts';
import type { RuleName } from './rules.ts';

export interface Detector {
  on(fact: Fact, emit: Emit<FindingFact>): void;
}

export interface DetectorSpec {
  readonly rule: RuleName;
  /** One sentence: when it fires (docs/findings). */
  readonly fires: string;
  create(health: StoreHealth): Detector;
}

/** A detector that looks at one fact at a time. */
export const stateless = (on: Detector['on']) => (): Detector => ({ on });
