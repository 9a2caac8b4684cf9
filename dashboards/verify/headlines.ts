/**
 * What must be seen of the story on the panels that people look at first: before, during and after the incident. The numbers are bounds with
 * room for chance, not copies of a run.
 */
import { INCIDENT, RECOVERY, unixSeconds } from './story.ts';

export interface Headline {
  readonly board: string;
  readonly panel: string;
  /** Of the legend, where a panel has several queries. */
  readonly target?: string;
  /** The series that is meant; the largest value of those that carry these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The range of the board at that time, in minutes; for panels whose numbers are of a range. */
  readonly before: readonly [low: number, high: number];
  readonly during: readonly [low: number, high: number];
  readonly after: readonly [low: number, high: number];
}

const MINUTE = 60_000;
/** Windows of 30 minutes are full of the incident at its end, and empty of it 45 minutes later (some operations are counted late). */
export const MOMENTS = {
  before: unixSeconds(INCIDENT - MINUTE),
  during: unixSeconds(RECOVERY - MINUTE),
  after: unixSeconds(RECOVERY + 39 * MINUTE),
} as const;
/** Of stat and table panels, in seconds: as if somebody had chosen "last 30 minutes". */
export const LAST = 1800;

const NONE = [0, 0.0001] as const;
const ZERO = [0, 0.5] as const;

export const HEADLINES: readonly Headline[] = [
  {
    board: 'tailfin-hidden',
    panel: 'Error ratio as callers see it',
    before: [0, 0.001],
    during: [0, 0.001],
    after: [0, 0.001],
  },
  {
    board: 'tailfin-hidden',
    panel: 'Failed, and nobody counted it',
    before: [0, 0.02],
    during: [0.06, 0.3],
    after: [0, 0.02],
  },
  {
    board: 'tailfin-hidden',
    panel: 'Streams that ended without proof',
    before: [0, 0.001],
    during: [0.03, 0.2],
    after: NONE,
  },
  { board: 'tailfin-hidden', panel: 'Masked by rotation', before: ZERO, during: [60, 400], after: ZERO },
  { board: 'tailfin-hidden', panel: 'Uncertain writes', before: [0, 5], during: [40, 400], after: [0, 5] },
  {
    board: 'tailfin-hidden',
    panel: 'Error ratio: what is seen, what is hidden',
    target: 'apparent',
    ...{ before: [0, 0.001], during: [0, 0.001], after: [0, 0.001] },
  },
  {
    board: 'tailfin-hidden',
    panel: 'Error ratio: what is seen, what is hidden',
    target: 'hidden',
    ...{ before: [0, 0.02], during: [0.06, 0.3], after: [0, 0.02] },
  },
  {
    board: 'tailfin-hidden',
    panel: 'Ambiguous closes by server',
    labels: { server: 'inventory' },
    ...{ before: [0, 0.002], during: [0.08, 0.3], after: NONE },
  },
  {
    board: 'tailfin-hidden',
    panel: 'Parse failures by size of the payload',
    labels: { size_class: '64-128KiB' },
    ...{ before: NONE, during: [0.25, 0.7], after: NONE },
  },
  {
    board: 'tailfin-streams',
    panel: 'Ambiguous closes: where the bytes stop',
    labels: { cut: 'mid' },
    ...{ before: [0, 0.001], during: [0.5, 20], after: [0, 0.001] },
  },
  {
    board: 'tailfin-retries',
    panel: 'Attempts per operation by server',
    labels: { server: 'inventory' },
    ...{ before: [1, 1.01], during: [1.08, 1.4], after: [1, 1.01] },
  },
  {
    board: 'tailfin-parsing',
    panel: 'z: how surely failures grow with length',
    before: ZERO,
    during: [4, 60],
    after: ZERO,
  },
  {
    board: 'tailfin-parsing',
    panel: 'Probability of failure by size',
    target: '64-128KiB',
    ...{ before: NONE, during: [0.25, 0.7], after: NONE },
  },
  { board: 'tailfin-parsing', panel: 'Expected failure of 1 MiB (model)', before: NONE, during: [0.5, 1], after: NONE },
  { board: 'tailfin-parsing', panel: 'Hard size limits found', before: ZERO, during: [0.9, 20], after: ZERO },
];

/** Alerts that the story must fire while it is bad, and not before. */
export const FIRE: readonly string[] = [
  'TailfinAmbiguousCloseBurnFast',
  'TailfinMaskedByRotation',
  'TailfinHiddenFailures',
  'TailfinLengthCorrelatedParseFailures',
  'TailfinHardSizeStep',
  'TailfinUncertainWrite',
  'TailfinUnsafeRetries',
  'TailfinListDrift',
  'TailfinCollateralBurst',
  'TailfinSourceLost',
];
