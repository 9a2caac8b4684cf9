/**
 * The lines of one exchange: `open`, `headers`, `close` with the messages folded in, `parse` of the answer, and `discovery` where the
 * answer holds one. Says how the exchange ended and by whom; whether that was good is not decided here.
 */
import { LISTEN } from '../../core/protocol/methods.ts';
import type { Answer } from '../scan/answer.ts';
import { type BodyScan, createBodyScan } from '../scan/body-scan.ts';
import type { Settling } from '../settle/follow.ts';
import type { LineFields } from '../writer/lines.ts';
import type { CarriedPost } from './carriers.ts';
import type { Client } from './clients.ts';
import { describeHead, headOf, isEventStream, isJson, type ResponseHead } from './head.ts';
import { observeBody } from './observe-body.ts';
import { placeOf } from './place.ts';
import type { RequestFacts } from './request-facts.ts';
import type { FetchState } from './state.ts';
import type { Transport } from './transport.ts';
import type { BodyObserver } from './watched-stream.ts';
import { abortWord, errorWord, isNotSent } from './words.ts';

export interface ExchangeInput {
  readonly url: URL;
  readonly facts: RequestFacts;
  readonly signal: AbortSignal | undefined;
  readonly client: Client | undefined;
  readonly settling: Settling | undefined;
  readonly transport: Transport;
}

export interface Exchange {
  /** The fetch was rejected: there is no response head. */
  failed(reason: unknown): void;
  /** The head arrived. The body is observed from now on. */
  answered(response: Response): void;
}

export function openExchange(state: FetchState, input: ExchangeInput): Exchange {
  const { url, facts, signal, client, settling, transport } = input;
  const { lines, digester, now, memory, pending, carriers } = state;
  const { idJson, method } = facts;
  const exchange = state.newId();
  const server = client?.server ?? (facts.open.endpoint as string);
  const { path, origin } = placeOf(url);
  const place = server + path;
  const scope = client?.id ?? origin + path;
  const isGet = facts.open.http_method === 'GET';
  /** The older transport: the stream that this POST names as the one that brings its answer. */
  const carrier = isGet || idJson === undefined ? undefined : carriers.of(url);
  /** This GET may be such a stream. */
  const carries = isGet && facts.open.last_event_id === false ? carriers.open(exchange, url) : undefined;
  let closed = false;
  /** The caller ended it; the line waits a moment. What ends after that is its doing. */
  let leaving = false;
  let headSeen = false;
  /** Of a carried POST: what its own response said, and what its carrier brought. */
  let accepted: LineFields | undefined;
  let carried: Answer | 'lost' | undefined;
  const post: CarriedPost<Answer> = {
    answered(answer) {
      carried = answer;
      endCarried();
    },
    carrierEnded() {
      carried ??= 'lost';
      endCarried();
    },
  };

  if (idJson !== undefined) {
    pending.add(scope, idJson, { exchange, method });
    carrier?.wait(idJson, post);
    if (settling !== undefined && settling.method === method) settling.exchange = exchange;
  }
  const annotations =
    method === 'tools/call' && facts.open.target ? memory.annotations(place, facts.open.target) : undefined;
  const open = named(facts.open);
  if (annotations !== undefined) open.annotations = annotations;
  if (carrier !== undefined) open.carrier = carrier.exchange;
  if (client !== undefined && method === 'initialize') state.clients.initializing(client);
  lines.emit('open', open);

  const emitClose = (fields: LineFields): void => {
    if (closed) return;
    closed = true;
    const { sent, connection } = transport;
    if (sent !== undefined) fields.sent = sent;
    if (!headSeen && connection !== undefined) fields.connection = connection;
    lines.emit('close', named(fields));
    // A stream with event ids may be resumed: until then its request stays known.
    const resumable = fields.terminal === false && (fields.event_ids ?? 0) > 0;
    if (idJson !== undefined && !resumable) pending.remove(scope, idJson, exchange);
    if (idJson !== undefined) carrier?.forget(idJson, post);
    carries?.ended();
  };

  /** The caller ended it. Whether by a clock of its SDK may be known only when the call settles, a moment later. */
  const endedByClient = (fields: LineFields): void => {
    if (leaving) return;
    leaving = true;
    const end = (): void => {
      const error = settling?.result === 'timeout' ? 'TimeoutError' : abortWord(signal?.reason);
      emitClose({ ...fields, by: 'client', ...(signal?.aborted || settling?.result ? { error } : {}) });
    };
    if (settling === undefined || settling.result !== undefined) end();
    else state.later(end);
  };

  return {
    failed(reason) {
      const none = { how: 'no_response' } as const;
      if (signal?.aborted) {
        endedByClient(none);
        return;
      }
      const error = errorWord(reason);
      if (isNotSent(error)) transport.sent = 'none';
      emitClose({ ...none, by: 'peer', error });
    },

    answered(response) {
      const given = headOf(response);
      const head = describeHead(given);
      if (transport.sent === undefined || transport.sent === 'none') transport.sent = 'headers';
      const mediaType = head.content_type ?? null;
      const scan = scanOf(given.status, head, mediaType);
      emitHead(head, given);
      noteSession(head, given.ok);
      if (head.content_length === 0 && given.hasBody) ended(scan, head);

      observeBody(response, observerOf(given.status, head, scan));
    },
  };

  /** Must not hold the response: it is told when nobody holds that any more. */
  function observerOf(status: number, head: LineFields, scan: BodyScan): BodyObserver {
    const leave = (): void => left(status, head.content_type ?? null, scan);
    return {
      chunk(bytes) {
        carries?.push(bytes);
        scan.push(bytes);
      },
      end: () => ended(scan, head),
      error(reason) {
        if (closed || leaving) return;
        if (signal?.aborted) endedByClient({ how: 'cancel', ...scan.close() });
        else {
          emitClose({ how: 'error', by: 'peer', error: errorWord(reason), ...scan.close() });
          parsed(scan);
        }
      },
      cancel: leave,
      dropped: leave,
    };
  }

  function scanOf(status: number, head: LineFields, mediaType: string | null): BodyScan {
    const waitsFor = (id: string): boolean =>
      isGet ? carries?.waitsFor(id) === true || pending.get(scope, id) !== undefined : id === idJson;
    return createBodyScan({
      mediaType,
      status,
      contentEncoding: head.content_encoding ?? null,
      contentLength: head.content_length ?? null,
      idMatch: waitsFor,
      method,
      digest: digester.digest,
      now,
      pages: facts.lists ? memory.pages(place, method) : undefined,
      cursor: facts.cursor,
      onAnswer: (answer) => answeredBy(answer),
      // Streams that no call waits on live long: what changed is said at once.
      ...(isGet || method === LISTEN ? { onListChanged } : {}),
    });
  }

  function onListChanged(bytes: number): void {
    lines.emit('message', { exchange, rpc: 'notification', bytes });
  }

  function noteSession(head: LineFields, ok: boolean): void {
    if (client === undefined) return;
    if (head.session_issued === true) client.hadSession = true;
    if (ok && facts.open.http_method === 'DELETE' && facts.open.session === true) state.clients.sessionDeleted(client);
  }

  function answeredBy(answer: Answer): void {
    if (answer.tools !== undefined) memory.learnTools(place, answer.tools);
    if (!isGet) return;
    if (carries?.waitsFor(answer.idJson)) {
      carries.answered(answer.idJson, answer);
      return;
    }
    const waiting = pending.get(scope, answer.idJson);
    if (waiting === undefined) return;
    // What any client had to parse, to get the answer of that request.
    lines.emit('parse', { ...answer.parse, exchange: waiting.exchange });
    pending.remove(scope, answer.idJson, waiting.exchange);
  }

  function ended(scan: BodyScan, head: LineFields): void {
    if (closed || leaving) return;
    if (carrier !== undefined && head.status === 202) {
      accepted = scan.close();
      endCarried();
      return;
    }
    const fields = scan.close();
    fields.how = 'eof';
    fields.by = 'peer';
    emitClose(fields);
    parsed(scan);
    const found = scan.discovery();
    if (found === undefined) return;
    const sessions = head.session_issued === true ? 'stateful' : 'stateless';
    lines.emit('discovery', { server, protocol_version: facts.open.protocol_version, sessions, ...found });
  }

  /** The exchange of an accepted POST ends when its answer has come on the carrier, or the carrier has ended. */
  function endCarried(): void {
    if (closed || accepted === undefined || carried === undefined) return;
    const answer = carried === 'lost' ? { terminal: false } : carried.close;
    emitClose({ how: 'eof', by: 'peer', ...accepted, ...answer });
    if (carried !== 'lost') lines.emit('parse', { ...carried.parse, exchange });
  }

  function parsed(scan: BodyScan): void {
    const parse = idJson === undefined ? undefined : scan.parse();
    if (parse === undefined) return;
    parse.exchange = exchange;
    lines.emit('parse', parse);
  }

  /** What every line of an exchange that may be its only one carries. */
  function named(fields: LineFields): LineFields {
    fields.exchange = exchange;
    fields.server = server;
    if (client !== undefined) fields.client = client.id;
    return fields;
  }

  function emitHead(head: LineFields, { redirectedTo }: ResponseHead): void {
    headSeen = true;
    const fields: LineFields = { exchange, ...head };
    if (transport.connection !== undefined) fields.connection = transport.connection;
    const endpoint = endpointAfter(redirectedTo);
    if (endpoint !== undefined) fields.endpoint = endpoint;
    lines.emit('headers', fields);
  }

  /** SDKs throw away bodies that hold no answer (202, 405, HTML): the end of the exchange, not a hang-up. */
  function left(status: number, mediaType: string | null, scan: BodyScan): void {
    if (closed || leaving) return;
    const mayAnswer =
      status >= 200 && status < 300 && status !== 202 && (isJson(mediaType) || isEventStream(mediaType));
    if (mayAnswer && (idJson !== undefined || isGet)) endedByClient({ how: 'cancel', ...scan.close() });
    else if (carrier !== undefined && status === 202) {
      accepted = scan.close();
      endCarried();
    } else emitClose({ how: 'eof', by: 'peer', cut: 'boundary', ...(idJson === undefined ? {} : { terminal: false }) });
  }

  /** fetch followed a redirect to another place. */
  function endpointAfter(last: string | undefined): string | undefined {
    if (last === undefined || last === '') return undefined;
    const endpoint = placeOf(new URL(last)).endpoint;
    return endpoint === facts.open.endpoint ? undefined : endpoint;
  }
}
