/**
 * The lines of one exchange: `open`, `headers`, `close` with the messages folded in, `parse` of the answer, and `discovery` where
 * the answer holds one. Says how the exchange ended and by whom; whether that was good is not decided here.
 */
import { randomUUID } from 'node:crypto';
import { createBodyScan } from '../tap/scan/body-scan.ts';
import { digest } from './digest.ts';
import { abortWord, errorWord, isNotSent } from './error-word.ts';
import type { EventLog, LineFields } from './event-log.ts';
import { observeBody } from './observe-body.ts';
import type { RequestFacts } from './request-facts.ts';
import { describeHead, isEventStream, isJson } from './response-facts.ts';

export interface ExchangeRecord {
  readonly exchange: string;
  /** The fetch was rejected: there is no response head. */
  failed(reason: unknown): void;
  /** The head arrived. Returns the response to hand on, whose body is now observed. */
  answered(response: Response): Response;
}

export function recordExchange(
  log: EventLog,
  facts: RequestFacts,
  signal: AbortSignal | undefined,
  annotations: LineFields['annotations'],
): ExchangeRecord {
  const exchange = randomUUID();
  log.emit('open', { exchange, ...facts.open, ...(annotations && { annotations }) });
  return {
    exchange,

    failed(reason) {
      if (signal?.aborted) log.emit('close', { exchange, how: 'no_response', by: 'client', error: abortWord(signal) });
      else {
        const error = errorWord(reason);
        const sent = isNotSent(error) ? ({ sent: 'none' } as const) : {};
        log.emit('close', { exchange, how: 'no_response', by: 'peer', error, ...sent });
      }
    },

    answered(response) {
      const head = describeHead(response);
      const mediaType = head.content_type ?? null;
      const requestId = facts.requestId === undefined ? undefined : JSON.stringify(facts.requestId);
      const scan = createBodyScan({
        mediaType,
        status: response.status,
        contentEncoding: head.content_encoding ?? null,
        contentLength: head.content_length ?? null,
        idMatch: (id) => id === requestId,
        method: facts.method ?? '',
        digest,
        now: Date.now,
      });
      let closed = false;
      const close = (how: LineFields, body: LineFields): boolean => {
        if (closed) return false;
        closed = true;
        log.emit('close', { exchange, ...how, ...body, sent: 'headers' });
        return true;
      };
      const parsed = (): void => {
        const parse = facts.requestId === undefined ? undefined : scan.parse();
        if (parse !== undefined) log.emit('parse', { exchange, ...parse });
      };
      log.emit('headers', { exchange, ...head });

      return observeBody(response, {
        chunk(bytes) {
          scan.push(bytes);
        },
        end() {
          if (!close({ how: 'eof', by: 'peer' }, scan.close())) return;
          parsed();
          const found = scan.discovery();
          if (found === undefined) return;
          const { endpoint, protocol_version } = facts.open;
          const sessions = head.session_issued === true ? 'stateful' : 'stateless';
          log.emit('discovery', { endpoint, protocol_version, sessions, ...found });
        },
        error(reason) {
          if (signal?.aborted) close({ how: 'cancel', by: 'client', error: abortWord(signal) }, scan.close());
          else if (close({ how: 'error', by: 'peer', error: errorWord(reason) }, scan.close())) parsed();
        },
        cancel() {
          // SDKs throw away bodies that hold no answer (202, 405, HTML): the end of the exchange, not a hang-up.
          const mayAnswer = response.ok && response.status !== 202 && (isJson(mediaType) || isEventStream(mediaType));
          const error = signal?.aborted ? { error: abortWord(signal) } : {};
          if (mayAnswer) close({ how: 'cancel', by: 'client', ...error }, scan.close());
          else close({ how: 'eof', by: 'peer' }, {});
        },
      });
    },
  };
}
