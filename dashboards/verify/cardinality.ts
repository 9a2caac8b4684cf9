/** How many series a sidecar exposes: of itself, and of each server by what was seen of it. Measured on the story, for docs/sizing.md. */
import type { Origin } from '../../src/core/model/event.ts';
import { createPipeline, type Pipeline } from '../../src/core/pipeline.ts';
import { ANSWERED, close, T0 } from '../../test/support/build-event.ts';
import { PODS, storyOf } from './story.ts';

const ORIGIN: Origin = { source: 'files', writer: 'files:events', host: 'host' };

/** Series by the value of the `server` label; '' is what has none. */
function seriesBy({ cells }: Pipeline): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spec, cells: own } of cells.families()) {
    const at = spec.labels.findIndex(([name]) => name === 'server');
    for (const { values, buckets } of own) {
      const server = at < 0 ? '' : (values[at] as string);
      // A histogram's cell: its buckets, with that of infinity, its sum and its count.
      counts.set(server, (counts.get(server) ?? 0) + (buckets === null ? 1 : buckets.length + 2));
    }
  }
  return counts;
}

export interface Cardinality {
  /** What a sidecar exposes of itself, without its process. */
  readonly own: number;
  /** A server of which one clean call was seen. */
  readonly quiet: number;
  /** Servers of the story, from the one with the fewest series to the one with the most. */
  readonly servers: readonly (readonly [name: string, series: number])[];
  readonly pod: number;
}

export function cardinality(): Cardinality {
  const quiet = createPipeline();
  quiet.line(JSON.stringify(close('x', 0, { ...ANSWERED, server: 'quiet' })), ORIGIN, 1, 0);
  quiet.finish();
  const [pod] = PODS as readonly [(typeof PODS)[number]];
  const pipeline = createPipeline({ home: pod.name });
  let number = 0;
  for (const line of storyOf(pod)) pipeline.line(JSON.stringify(line), { ...ORIGIN, host: pod.name }, ++number, 0);
  pipeline.tick(T0 + 20_000_000);
  pipeline.refresh();
  const counts = seriesBy(pipeline);
  const servers = [...counts].filter(([name]) => name !== '').sort((a, b) => a[1] - b[1]);
  return {
    own: counts.get('') ?? 0,
    quiet: seriesBy(quiet).get('quiet') ?? 0,
    servers,
    pod: pipeline.cells.series,
  };
}
