/** Names near to one that was not found: at most three, without keeping the names that were seen. */
import type { Fact } from '../core/model/facts.ts';
import { editDistance } from './nearest.ts';

const MAX_SUGGESTED = 3;
/** Comparing is quadratic; a longer name is suggested by its beginning only. */
const MAX_COMPARED = 40;

export interface Suggestions {
  add(fact: Fact): void;
  list(): string[];
}

/** `of`: exchanges, or operations by their key. */
export function createSuggestions(word: string, of: 'exchange' | 'operation'): Suggestions {
  const limit = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  let best: { readonly name: string; readonly score: number }[] = [];
  const score = (name: string): number => {
    if (word.length > 1 && (name.startsWith(word) || word.startsWith(name))) return 0.5;
    if (Math.abs(name.length - word.length) > limit || word.length > MAX_COMPARED) return Number.POSITIVE_INFINITY;
    return editDistance(word, name);
  };
  const consider = (name: string): void => {
    if (best.some((known) => known.name === name)) return;
    const found = score(name);
    if (found > limit || found >= (best[MAX_SUGGESTED - 1]?.score ?? Number.POSITIVE_INFINITY)) return;
    best = [...best, { name, score: found }].sort((a, b) => a.score - b.score).slice(0, MAX_SUGGESTED);
  };
  return {
    add(fact) {
      if (of === 'exchange' && fact.is === 'verdict') consider(fact.exchange.id);
      if (of === 'operation' && fact.is === 'operation') consider(fact.operation.key);
    },
    list: () => best.map(({ name }) => name),
  };
}
