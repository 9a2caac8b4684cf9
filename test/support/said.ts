/** What a fact says, as text: to compare those of two pipelines. */
import type { Fact } from '../../src/core/model/facts.ts';

/** Owned by one process: places in the heaps of timers, what points back. */
const UNSAID = ['place', 'indexed', 'owner', 'operation', 'waiting', 'wait'];

export const said = (fact: Fact): string =>
  JSON.stringify(fact, (key, value: unknown) => (UNSAID.includes(key) ? undefined : value));
