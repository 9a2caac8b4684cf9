/**
 * How batches of one kind are read and answered: what the HTTP source leaves to whoever names the path. Limits, order, room and
 * durability are the source's own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Origin } from '../core/model/event.ts';
import { answer, REFUSALS, type Refusal, refuse } from './ingest-answer.ts';
import { type Batch, deliverBatch } from './ingest-batch.ts';
import type { LineSink } from './source.ts';

export interface Delivery {
  /** By the content type of the request. */
  readonly format: string;
  readonly origin: Origin;
  readonly maxLineBytes: number;
}

export interface Protocol {
  /** Essence of the content type (empty: none was named) to the format. */
  readonly formats: ReadonlyMap<string, string>;
  readonly wrongType: Refusal;
  /** Nothing of a batch that it refuses may have been delivered. */
  deliver(chunks: readonly Buffer[], delivery: Delivery, sink: LineSink): Promise<Batch | Refusal>;
  answer(request: IncomingMessage, response: ServerResponse, batch: Batch): void;
  refuse(request: IncomingMessage, response: ServerResponse, why: Refusal): void;
}

/** Lines of the event schema. */
export const EVENTS: Protocol = {
  formats: new Map([
    ['', 'lines'],
    ['application/x-ndjson', 'lines'],
    ['application/ndjson', 'lines'],
    ['text/plain', 'lines'],
    ['application/json', 'array'],
  ]),
  wrongType: REFUSALS.type,
  deliver: (chunks, { format, origin, maxLineBytes }, sink) =>
    deliverBatch(chunks, { isArray: format === 'array', origin, maxLineBytes }, sink),
  answer: (_, response, { account }) => answer(response, 200, account),
  refuse,
};
