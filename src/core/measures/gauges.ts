/** Gauges and counters of the state itself, brought up to date before the cells are read. */
import { type Exchange, kindOf } from '../model/exchange.ts';
import { STREAMS } from '../model/verdict.ts';
import { keepMap } from '../state.ts';
import type { StoreHealth } from '../store.ts';
import type { Cells } from './cells.ts';

export interface GaugeSources {
  open(): Iterable<Exchange>;
  serverLabel(name: string): string;
}

export function createGauges(cells: Cells, health: StoreHealth, { open, serverLabel }: GaugeSources): () => void {
  /** Streams that were open once show 0 when they are not. */
  const shown = keepMap<string, number>(health.parts, 'shown_streams');
  return () => {
    const counts = new Map<string, number>(shown);
    for (const exchange of open()) {
      const kind = kindOf(exchange);
      if (!exchange.openKnown || kind === 'none' || kind === 'resume') continue;
      const key = `${STREAMS.indexOf(kind)}${serverLabel(exchange.server)}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, count] of counts) {
      shown.set(key, 0);
      cells.set('streams_open', count, [key.slice(1), STREAMS[Number(key[0])] as (typeof STREAMS)[number]]);
    }
    for (const [store, size] of health.sizes) cells.set('state_entries', size(), [store]);
    for (const [store, count] of health.evictions) cells.add('state_evictions', count, [store]);
    health.evictions.clear();
  };
}
