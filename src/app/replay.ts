/**
 * Offline: files through the pipeline on a virtual clock (the events' own time), merged by time; at the end every window closes.
 * A function of the bytes alone: the same files give the same output.
 */
import type { Fact } from '../core/model/facts.ts';
import type { Policy } from '../core/model/policy.ts';
import { createPipeline, type Pipeline } from '../core/pipeline.ts';
import { type EventReader, openEventReader } from './event-reader.ts';
import type { Progress } from './progress.ts';

export interface ReplayOptions {
  readonly files: readonly string[];
  readonly host: string;
  readonly policy: Policy;
  readonly onFact?: (fact: Fact) => void;
  /** Called between chunks: a slow reader of the output can hold the replay back. */
  readonly onChunk?: () => Promise<void> | void;
  readonly progress?: Progress;
}

/** @throws RuntimeFailure when a file cannot be read. */
export async function replay(options: ReplayOptions): Promise<Pipeline> {
  const { files, host, policy, onFact, onChunk, progress } = options;
  const pipeline = createPipeline(onFact === undefined ? { policy } : { policy, onFact });
  const health = { rejected: pipeline.reject, invalidUtf8: pipeline.invalidUtf8 };
  const readers = files.map((path) => openEventReader(path, host, health));
  let active = [...readers];
  for (;;) {
    active = await refill(active, onChunk, progress, readers);
    if (active.length === 0) break;
    drainWhileAllBuffered(active, pipeline);
  }
  pipeline.finish();
  progress?.end();
  return pipeline;
}

async function refill(
  readers: readonly EventReader[],
  onChunk: ReplayOptions['onChunk'],
  progress: Progress | undefined,
  all: readonly EventReader[],
): Promise<EventReader[]> {
  const left: EventReader[] = [];
  for (const reader of readers) {
    while (reader.peek() === undefined && !reader.done) {
      await reader.fill();
      await onChunk?.();
      progress?.update(all);
    }
    if (reader.peek() !== undefined) left.push(reader);
  }
  return left;
}

/** Takes the earliest event of all files until one of them has to read on. Within a file the order of lines stays. */
function drainWhileAllBuffered(readers: readonly EventReader[], pipeline: Pipeline): void {
  for (;;) {
    let earliest = readers[0] as EventReader;
    let event = earliest.peek();
    for (let i = 1; i < readers.length; i++) {
      const other = (readers[i] as EventReader).peek();
      if (event === undefined || other === undefined) return;
      if (other.ts < event.ts) {
        earliest = readers[i] as EventReader;
        event = other;
      }
    }
    if (event === undefined) return;
    pipeline.tick(event.ts);
    pipeline.accept(event);
    earliest.take();
  }
}
