/** OTLP/HTTP as batches of the HTTP source: one protocol for each signal. */
import { refusal } from '../ingest-answer.ts';
import type { Protocol } from '../ingest-protocol.ts';
import { answerOtlp, JSON_TYPE, PROTOBUF, refuseOtlp } from './answers.ts';
import { deliverOtlp } from './deliver.ts';
import type { Signal } from './signals.ts';
import type { Digest } from './span-line.ts';

export function createOtlpProtocol(signal: Signal, digest: Digest): Protocol {
  return {
    formats: new Map([
      [PROTOBUF, 'protobuf'],
      [JSON_TYPE, 'json'],
    ]),
    wrongType: refusal('wrong_type', `Content-Type: ${PROTOBUF} or ${JSON_TYPE}`, {
      Accept: `${PROTOBUF}, ${JSON_TYPE}`,
    }),
    deliver: (chunks, delivery, sink) => deliverOtlp(chunks, delivery, { signal, digest }, sink),
    answer: (request, response, batch) => answerOtlp(request, response, batch, signal),
    refuse: refuseOtlp,
  };
}
