/** A call that hung was given up, and the same call then worked at once: the first request was lost on the way. */

import { LIMITS } from '../model/limits.ts';
import { callKey } from './call-key.ts';
import { aboutExchange, detector } from './detector.ts';

interface Stall {
  readonly ts: number;
  readonly exchange: string;
  readonly endpoint: string | null;
  readonly waitedMs: number;
}

export const stallThenInstantIdenticalRetry = detector({
  rule: 'stall_then_instant_identical_retry',
  on: ['verdict'],
  ignoresPlainWithout: 'stalled_calls',
  fires:
    'a call was cancelled after at least 30 s without a byte, and the identical call, opened within 10 s, was answered within 10 s',
  means:
    'Not a slow server: the first request or its answer was lost, mostly on a dead pooled connection or a stuck instance.',
  needs: '`args_digest` (but for lists and the like), open times',
  source: 'design section 6',
  action: 'Compare the endpoints and the connection facts of the two; set a time-out for the response head.',
  create({ memory, limits }) {
    const stalls = memory<Stall>('stalled_calls', LIMITS.troubledCalls);
    return (fact, emit) => {
      const { exchange, kind, verdict } = fact;
      if (kind !== 'response' || verdict === null || !exchange.openKnown) return;
      const { openTs, closeTs } = exchange;
      if (verdict.cause === 'client_cancel') {
        // Behind a response head an unknown number of bytes is not none.
        const { bytes } = exchange.fields;
        const none = bytes === 0 || (!verdict.head && (bytes === undefined || bytes === null));
        if (!none || closeTs - openTs < limits.stall_ms) return;
        const key = callKey(exchange);
        if (key === null) return;
        const { id, endpoint } = exchange;
        stalls.set(key, { ts: closeTs, exchange: id, endpoint, waitedMs: closeTs - openTs });
        return;
      }
      // A whole JSON document is an answer, though nobody looked for the message in it.
      const answered = exchange.terminal || verdict.cause === 'integrity_ok';
      if (stalls.size === 0 || !answered || closeTs - openTs > limits.stall_answer_ms) return;
      const key = callKey(exchange);
      const stall = key === null ? undefined : stalls.get(key);
      if (key === null || stall === undefined || openTs < stall.ts) return;
      stalls.delete(key);
      if (openTs - stall.ts > limits.stall_retry_ms) return;
      emit(
        aboutExchange('stall_then_instant_identical_retry', exchange, {
          stalled: stall.exchange,
          waited_ms: stall.waitedMs,
          answered_ms: closeTs - openTs,
          rotated: stall.endpoint === null || exchange.endpoint === null ? null : stall.endpoint !== exchange.endpoint,
        }),
      );
    };
  },
});
