/** The contract of a detector: facts in, findings out. No detector knows another one; each keeps bounded memory of its own. */
import type { Origin, Place } from '../model/event.ts';
import type { Fact, FindingFact } from '../model/facts.ts';
import type { Emit } from '../stage.ts';
import type { StoreHealth } from '../store.ts';
import type { RuleName } from './rules.ts';

export type FactOf<K extends Fact['is']> = Extract<Fact, { is: K }>;

export interface DetectorSpec<K extends Fact['is'] = Fact['is']> {
  readonly rule: RuleName;
  /** The one kind of fact it looks at. */
  readonly on: K;
  /** One sentence: when it fires (docs/findings.md). */
  readonly fires: string;
  create(health: StoreHealth): (fact: FactOf<K>, emit: Emit<FindingFact>) => void;
}

/** Where the line stands that shows it. */
export const placeOf = ({ origin, line }: { origin: Origin | null; line: number }): Place | null =>
  origin === null ? null : { origin, line };

/** Keeps the kind of fact out of the table's type: detectors of all kinds stand in one list. */
export const detector = <K extends Fact['is']>(spec: DetectorSpec<K>): DetectorSpec => spec as unknown as DetectorSpec;
