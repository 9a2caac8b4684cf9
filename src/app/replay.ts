/**
 * Offline: files through the pipeline on a virtual clock (the events' own time), merged by time; at the end every window closes.
 * A function of the bytes alone: the same files give the same output.
 */
import type { WireEvent } from '../core/model/event.ts';
import type { Fact } from '../core/model/facts.ts';
import type { Policy } from '../core/model/policy.ts';
import { createPipeline, type Pipeline } from '../core/pipeline.ts';
import { decode, isRejection } from '../core/stages/decode.ts';
import type { LineReceiver } from '../sources/line-splitter.ts';
import { type EventReader, openEventReader } from './event-reader.ts';
import { holdYoungGeneration } from './memory.ts';
import type { Progress } from './progress.ts';

export interface ReplayOptions {
  readonly files: readonly string[];
  readonly host: string;
  readonly policy: Policy;
  readonly onFact?: ((fact: Fact) => void) | undefined;
  /** Called between chunks: a slow reader of the output can hold the replay back. */
  readonly onChunk?: () => Promise<void> | void;
  readonly progress?: Progress | undefined;
}

/** @throws RuntimeFailure when a file cannot be read. */
export async function replay({ files, host, policy, onFact, onChunk, progress }: ReplayOptions): Promise<Pipeline> {
  const pipeline = createPipeline({ policy, home: host, ownClock: true, onFact });
  const readers = files.map((path) => openEventReader(path, host));
  const betweenChunks = async (): Promise<void> => {
    holdYoungGeneration();
    await onChunk?.();
    progress?.update(readers);
  };
  try {
    if (readers.length === 1) {
      while (await (readers[0] as EventReader).read(pipeline)) await betweenChunks();
    } else await merge(readers, pipeline, betweenChunks);
  } finally {
    for (const reader of readers) reader.close();
    progress?.end();
  }
  pipeline.finish();
  return pipeline;
}

/** The events of one file that were read and not taken yet. */
interface Queue {
  readonly reader: EventReader;
  events: WireEvent[];
  at: number;
}

/** The earliest event of all files first; within a file the order of its lines stays. */
async function merge(
  readers: readonly EventReader[],
  pipeline: Pipeline,
  betweenChunks: () => Promise<void>,
): Promise<void> {
  const queues: Queue[] = [];
  const refill = async (queue: Queue): Promise<boolean> => {
    queue.events = [];
    queue.at = 0;
    let more = true;
    while (more && queue.events.length === 0) {
      more = await queue.reader.read(receiverFor(queue, pipeline));
      await betweenChunks();
    }
    return queue.events.length > 0;
  };
  for (const reader of readers) {
    const queue: Queue = { reader, events: [], at: 0 };
    if (await refill(queue)) queues.push(queue);
  }
  const head = (queue: Queue): WireEvent => queue.events[queue.at] as WireEvent;
  while (queues.length > 0) {
    let earliest = queues[0] as Queue;
    for (const queue of queues) if (head(queue).ts < head(earliest).ts) earliest = queue;
    pipeline.accept(head(earliest));
    earliest.at++;
    if (earliest.at === earliest.events.length && !(await refill(earliest))) queues.splice(queues.indexOf(earliest), 1);
  }
}

/** Decodes at once, to know the time of each line; broken lines are counted as they come. */
function receiverFor(queue: Queue, pipeline: Pipeline): LineReceiver {
  return {
    line(text, origin, line, offset) {
      const event = decode(text, origin, line, offset);
      if (isRejection(event)) {
        pipeline.reject(event.rejected, origin);
        return event;
      }
      queue.events.push(event);
      return event.ts;
    },
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
  };
}
