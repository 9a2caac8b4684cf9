/**
 * Offline: files through the pipeline on a virtual clock (the events' own time), merged by time; at the end every window closes.
 * A function of the bytes alone: the same files give the same output.
 */
import type { Origin, Rejection, WireEvent } from '../core/model/event.ts';
import type { Fact } from '../core/model/facts.ts';
import type { Policy } from '../core/model/policy.ts';
import { createPipeline, type Pipeline } from '../core/pipeline.ts';
import { decode, isRejection } from '../core/stages/decode.ts';
import type { LineReceiver } from '../sources/line-splitter.ts';
import { type EventReader, openEventReader } from './event-reader.ts';
import { tendHeap } from './memory.ts';
import type { Progress } from './progress.ts';

/** Lines of one file. */
export interface FileTally {
  readonly file: string;
  accepted: number;
}

export interface ReplayOptions {
  readonly files: readonly string[];
  /** Files that are read in the place of others: a copy of a stream that can be read once only. */
  readonly copies?: ReadonlyMap<string, string> | undefined;
  readonly host: string;
  readonly policy: Policy;
  readonly onFact?: ((fact: Fact) => void) | undefined;
  /** Called with each event before it is judged; valid while it is delivered. */
  readonly onEvent?: ((event: WireEvent) => void) | undefined;
  /** Counts the lines that were accepted, by file; one entry per file, in their order. */
  readonly tallies?: FileTally[] | undefined;
  /** Called between chunks: a slow reader of the output can hold the replay back. */
  readonly onChunk?: () => Promise<void> | void;
  readonly progress?: Progress | undefined;
}

/** @throws RuntimeFailure when a file cannot be read. */
export async function replay(options: ReplayOptions): Promise<Pipeline> {
  const { files, copies, host, policy, onFact, onEvent, tallies, onChunk, progress } = options;
  const pipeline = createPipeline({ policy, home: host, ownClock: true, onFact, onEvent });
  const inputs: Input[] = [];
  const readers: EventReader[] = [];
  const betweenChunks = async (): Promise<void> => {
    tendHeap();
    await onChunk?.();
    progress?.update(readers);
  };
  try {
    for (const file of files) {
      const reader = openEventReader(file, host, copies?.get(file));
      readers.push(reader);
      const tally = tallies === undefined ? undefined : { file, accepted: 0 };
      if (tally !== undefined) tallies?.push(tally);
      inputs.push({ reader, tally });
    }
    const [only] = inputs;
    if (inputs.length === 1 && only !== undefined) {
      const receiver = counting(pipeline, only.tally);
      while (await only.reader.read(receiver)) await betweenChunks();
    } else await merge(inputs, pipeline, betweenChunks);
  } finally {
    for (const reader of readers) reader.close();
    progress?.end();
  }
  pipeline.finish();
  return pipeline;
}

interface Input {
  readonly reader: EventReader;
  readonly tally: FileTally | undefined;
}

/** The pipeline, with its accepted lines counted where somebody asks. */
function counting(pipeline: Pipeline, tally: FileTally | undefined): LineReceiver {
  if (tally === undefined) return pipeline;
  return {
    line(text, origin, line, offset) {
      const ts = pipeline.line(text, origin, line, offset);
      if (ts !== undefined) tally.accepted++;
      return ts;
    },
    bytes(bytes, start, end, origin, line, offset) {
      const taken = pipeline.bytes(bytes, start, end, origin, line, offset);
      if (taken) tally.accepted++;
      return taken;
    },
    room: pipeline.room,
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
  };
}

/** A line that was refused: counted in its place, so that its number is not a hole before the lines ahead of it. */
interface Refused {
  readonly ts: number;
  readonly refused: Rejection;
  readonly origin: Origin;
}

/** The lines of one file that were read and not taken yet. */
interface Queue extends Input {
  items: (WireEvent | Refused)[];
  at: number;
  lastTs: number;
}

/** The earliest event of all files first; within a file the order of its lines stays. */
async function merge(inputs: readonly Input[], pipeline: Pipeline, betweenChunks: () => Promise<void>): Promise<void> {
  const queues: Queue[] = [];
  const refill = async (queue: Queue): Promise<boolean> => {
    queue.items = [];
    queue.at = 0;
    let more = true;
    while (more && queue.items.length === 0) {
      more = await queue.reader.read(receiverFor(queue, pipeline));
      await betweenChunks();
    }
    return queue.items.length > 0;
  };
  for (const input of inputs) {
    const queue: Queue = { ...input, items: [], at: 0, lastTs: Number.NEGATIVE_INFINITY };
    if (await refill(queue)) queues.push(queue);
  }
  const head = (queue: Queue): WireEvent | Refused => queue.items[queue.at] as WireEvent | Refused;
  while (queues.length > 0) {
    let earliest = queues[0] as Queue;
    for (const queue of queues) if (head(queue).ts < head(earliest).ts) earliest = queue;
    const next = head(earliest);
    if ('refused' in next) pipeline.refuse(next.refused, next.origin);
    else pipeline.accept(next);
    earliest.at++;
    if (earliest.at === earliest.items.length && !(await refill(earliest))) queues.splice(queues.indexOf(earliest), 1);
  }
}

/** Decodes at once, to know the time of each line. */
function receiverFor(queue: Queue, pipeline: Pipeline): LineReceiver {
  return {
    line(text, origin, line, offset) {
      const event = decode(text, origin, line, offset);
      if (isRejection(event)) {
        queue.items.push({ ts: queue.lastTs, refused: event, origin });
        return event;
      }
      queue.lastTs = event.ts;
      queue.items.push(event);
      if (queue.tally !== undefined) queue.tally.accepted++;
      return event.ts;
    },
    reject: pipeline.reject,
    invalidUtf8: pipeline.invalidUtf8,
  };
}
