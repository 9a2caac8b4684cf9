/** What exports come to, as numbers and log lines: one line when a backend stops taking a signal, and one when it does again. */
import type { Cells } from '../../core/measures/cells.ts';
import type { SendResult } from './sender.ts';
import { type OtelSettings, SIGNALS, type Signal, type Target } from './settings.ts';

export type Say = (level: 'info' | 'warn', message: string, kind: string) => void;
type Drop = 'queue_full' | 'refused' | 'partial';

const RESULTS = ['ok', 'partial', 'refused', 'failed'] as const;
const DROPS: readonly Drop[] = ['queue_full', 'refused', 'partial'];

export interface Tally {
  drop(signal: Signal, entries: number, reason: Drop): void;
  /** `entries`: spans or log records that were sent; numbers are in the next export, whatever becomes of this one. */
  ended(signal: Signal, entries: number, result: SendResult): void;
}

export function createTally(cells: Cells, { targets }: OtelSettings, say: Say): Tally {
  const isFailing = new Set<Signal>();
  for (const signal of SIGNALS) {
    if (targets[signal] === undefined) continue;
    for (const result of RESULTS) cells.touch('otlp_exports', [signal, result]);
    for (const reason of DROPS) cells.touch('otlp_dropped', [signal, reason]);
    cells.touch('otlp_retries', [signal]);
  }
  const drop = (signal: Signal, entries: number, reason: Drop): void =>
    cells.add('otlp_dropped', entries, [signal, reason]);

  function speak(signal: Signal, result: SendResult): void {
    if (result.status === 'ok') {
      if (isFailing.delete(signal)) say('info', `${signal} are exported again`, 'otlp_recovered');
      return;
    }
    if (isFailing.has(signal)) return;
    isFailing.add(signal);
    const what = result.status === 'refused' ? 'the backend refuses them' : 'they wait, or are in the next export';
    // The path may be a secret: some backends have a token there.
    const { origin } = new URL((targets[signal] as Target).url);
    say('warn', `cannot export ${signal} to ${origin}: ${result.reason}; ${what}`, 'otlp_failed');
  }

  return {
    drop,
    ended(signal, entries, result) {
      const isPartial = result.status === 'ok' && result.rejected > 0;
      cells.add('otlp_exports', 1, [signal, isPartial ? 'partial' : result.status]);
      cells.add('otlp_retries', result.retries, [signal]);
      if (result.status === 'ok') drop(signal, result.rejected, 'partial');
      if (result.status === 'refused' && signal !== 'metrics') drop(signal, entries, 'refused');
      speak(signal, result);
    },
  };
}
