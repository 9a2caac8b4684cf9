/**
 * A new series shows 0 first: `increase()` ignores the value that a series is born with, and a rare event would never be seen. It decides
 * which series are still shown as 0; their cells count on all the same. How far each one has come stands in its cell, and so in the
 * state. No clock of its own.
 */
import { type Cell, type Family, NEW, SHOWN } from '../core/measures/cells.ts';
import type { IsHeld } from './samples.ts';

export interface Debut {
  readonly isHeld: IsHeld;
  /** Nobody could see anything for so long: it is no part of a hold, else a second scraper would miss the 0 that the first one saw. */
  resume(families: Iterable<Family>, downMs: number): void;
  /** Call before a snapshot is taken. Those that were served as 0 for long enough are shown from now on. */
  release(families: Iterable<Family>, now: number, holdMs: number): void;
  /** Those that a snapshot taken now holds for the first time: to be told to `served`. */
  debutants(families: Iterable<Family>): readonly Cell[];
  /** All that are still shown as 0. */
  held(families: Iterable<Family>): readonly Cell[];
  /** Their snapshot was answered. */
  served(cells: readonly Cell[], now: number): void;
  /** These were seen with their values: from now on they are shown. */
  shown(cells: readonly Cell[]): void;
  /** Everything that is there was shown in an earlier life, whatever its cell says. */
  showAll(families: Iterable<Family>): void;
}

const isCounter = ({ spec }: Family): boolean => spec.kind !== 'gauge';

function* counters(families: Iterable<Family>): Generator<Cell> {
  for (const family of families) if (isCounter(family)) yield* family.cells;
}

export function createDebut(): Debut {
  return {
    isHeld: (family, cell) => cell.debut !== SHOWN && isCounter(family),
    resume(families, downMs) {
      for (const cell of counters(families)) if (cell.debut !== NEW && cell.debut !== SHOWN) cell.debut += downMs;
    },
    release(families, now, holdMs) {
      for (const cell of counters(families)) {
        // A clock that went back must not hold it for ever.
        const isOver = now - cell.debut >= holdMs || now < cell.debut;
        if (cell.debut !== NEW && cell.debut !== SHOWN && isOver) cell.debut = SHOWN;
      }
    },
    debutants: (families) => [...counters(families)].filter(({ debut }) => debut === NEW),
    held: (families) => [...counters(families)].filter(({ debut }) => debut !== SHOWN),
    served(cells, now) {
      for (const cell of cells) if (cell.debut === NEW) cell.debut = now;
    },
    shown(cells) {
      for (const cell of cells) cell.debut = SHOWN;
    },
    showAll(families) {
      for (const cell of counters(families)) cell.debut = SHOWN;
    },
  };
}
