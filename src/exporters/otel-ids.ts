/**
 * Trace and span ids from what the events say, by a hash: reading the same events again gives the same spans, so that a backend can tell a
 * repetition from a second operation. No chance, no clock. A traceparent of the events wins over a derived trace id.
 */
import { createHash } from 'node:crypto';
import type { Attempt } from '../core/model/operation.ts';
import { isTraceparent, spanIdOf, traceIdOf } from '../core/protocol/traceparent.ts';

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

const TRACE_CHARS = 32;
const SPAN_CHARS = 16;

/** The ids of zeros are not valid: the one hash in 2^64 that gives one is moved by one. */
function digest(chars: number, kind: string, { host, exchange, openTs }: Attempt): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([kind, host, exchange, openTs]))
    .digest('hex')
    .slice(0, chars);
  return /[^0]/.test(hex) ? hex : `${hex.slice(0, -1)}1`;
}

export const attemptSpanId = (attempt: Attempt): string => digest(SPAN_CHARS, 'attempt', attempt);

/** The context that a traceparent names; null where there is none, or it is not valid. */
export function contextOf(traceparent: string | null | undefined): TraceContext | null {
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return null;
  return { traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent) };
}

/** `trace`: that of the operation, by which exemplars find it too. */
export function operationContext(trace: string | null, first: Attempt): TraceContext {
  const traceId = contextOf(trace)?.traceId ?? digest(TRACE_CHARS, 'trace', first);
  return { traceId, spanId: digest(SPAN_CHARS, 'operation', first) };
}

/**
 * Is this trace within the share (0 to 1) that is kept? By the highest 52 of the lowest 56 bits of its id, which W3C wants to be random:
 * everybody who samples like this keeps the same traces. (A number holds 53 bits.)
 */
export function isWithinShare(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-14, -1), 16) < share * 2 ** 52;
}
