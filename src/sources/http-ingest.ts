/**
 * Takes batches of event lines by HTTP: decides whether a batch is accepted or refused, whole, and delivers accepted ones one after
 * the other. It serves a request that somebody else received; which address and path that is, it must not know. Every limit is
 * checked before the cost that it limits.
 *
 * Watermark: the least of the newest event times of the connections that sent a batch within `idleMs`. After that long without one,
 * and with none waiting, it is the wall clock.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Origin } from '../core/model/event.ts';
import { LIMITS } from '../core/model/limits.ts';
import type { Log } from './fault-list.ts';
import { REFUSALS, type Refusal } from './ingest-answer.ts';
import type { Batch } from './ingest-batch.ts';
import { type Body, readBody, refusedByHead } from './ingest-body.ts';
import { EVENTS, type Protocol } from './ingest-protocol.ts';
import { createRoom } from './ingest-room.ts';
import { tokenCheck } from './ingest-token.ts';
import { createSenders } from './senders.ts';
import type { LineSink, Source } from './source.ts';

export interface HttpIngestOptions {
  readonly name: string;
  /** Host of lines that name none. */
  readonly host: string;
  /** Without one everybody who reaches the listener may send. */
  readonly token?: string | undefined;
  readonly maxLineBytes: number;
  readonly log: Log;
  /** Of one batch, on the wire and unpacked. */
  readonly maxBatchBytes?: number;
  /** Of all batches that are being received or wait. */
  readonly maxHeldBytes?: number;
  readonly idleMs?: number;
  readonly pollMs?: number;
  /** Resolves when all that was delivered so far is durable; false where that failed. Unset: nothing is kept. */
  readonly stored?: (() => Promise<boolean>) | undefined;
  /** Wall clock, Unix ms. */
  readonly now?: () => number;
}

export interface HttpIngest extends Source {
  /** Answers one request, some time. Without a protocol it holds event lines. */
  handle(request: IncomingMessage, response: ServerResponse, protocol?: Protocol): void;
}

const MIB = 1024 * 1024;
const DEFAULTS = {
  maxBatchBytes: 8 * MIB,
  maxHeldBytes: 32 * MIB,
  idleMs: LIMITS.idleSourceMs,
  pollMs: 250,
  now: Date.now,
};

const ENCODINGS: ReadonlyMap<string, boolean> = new Map([
  ['', false],
  ['identity', false],
  ['gzip', true],
  ['x-gzip', true],
]);
const word = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase();

export function createHttpIngest(options: HttpIngestOptions): HttpIngest {
  const { name, host, token, maxLineBytes, log } = options;
  const { maxBatchBytes, maxHeldBytes, idleMs, pollMs, now } = { ...DEFAULTS, ...options };
  const origin: Origin = { source: name, writer: name, host, mayRepeat: true };
  const isAllowed = tokenCheck(token);
  const room = createRoom(maxHeldBytes);
  const senders = createSenders(idleMs);
  const known = new WeakSet<object>();
  /** When it became idle; the wall clock counts only some time later. */
  let idleSince = now();
  let sink: LineSink | undefined;
  let isStopping = false;
  let watermark = Number.NEGATIVE_INFINITY;
  let newestTs = Number.NEGATIVE_INFINITY;
  /** Received whole and not delivered yet. */
  let waitingBytes = 0;
  let requests = 0;
  let lastTurn: Promise<unknown> = Promise.resolve();
  let fail: (error: unknown) => void = () => {};
  let wake: () => void = () => {};

  function publish(to: LineSink): void {
    const at = now();
    if (waitingBytes > 0) idleSince = at;
    const idle = at >= idleSince + idleMs ? at : watermark;
    watermark = Math.max(watermark, senders.least(at) ?? idle);
    to.advance(name, watermark);
  }

  function refusedAtOnce(
    request: IncomingMessage,
    protocol: Protocol,
  ): Refusal | { readonly format: string; readonly gzip: boolean } {
    const { headers, method } = request;
    if (method !== 'POST') return REFUSALS.method;
    // A page in a browser could reach a loopback address; no sender of events is one.
    if (headers.origin !== undefined) return REFUSALS.browser;
    if (!isAllowed(headers.authorization)) return REFUSALS.token;
    if (sink === undefined || isStopping) return REFUSALS.stopping;
    const format = protocol.formats.get(word(headers['content-type']));
    if (format === undefined) return protocol.wrongType;
    const gzip = ENCODINGS.get(word(headers['content-encoding']));
    if (gzip === undefined) return REFUSALS.encoding;
    return refusedByHead(request, { gzip, maxBytes: maxBatchBytes, room }) ?? { format, gzip };
  }

  /** One batch at a time, in the order in which they were whole. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = lastTurn.then(work);
    lastTurn = turn.catch(() => {});
    return turn;
  }

  function noteSender(sender: Socket, newest: number): void {
    idleSince = now();
    senders.delivered(sender, newest, idleSince);
    if (sender.destroyed) senders.closed(sender);
    if (known.has(sender)) return;
    known.add(sender);
    sender.once('close', () => senders.closed(sender));
  }

  async function deliver(
    body: Body,
    format: string,
    protocol: Protocol,
    sender: Socket,
    to: LineSink,
  ): Promise<Batch | Refusal> {
    waitingBytes += body.bytes;
    try {
      return await inTurn(async () => {
        const batch = await protocol.deliver(body.chunks, { format, origin, maxLineBytes }, to);
        if ('error' in batch) return batch;
        if (batch.newestTs > newestTs) newestTs = batch.newestTs;
        if (batch.account.accepted > 0) noteSender(sender, batch.newestTs);
        return batch;
      });
    } finally {
      waitingBytes -= body.bytes;
      body.release();
      publish(to);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse, protocol: Protocol): Promise<void> {
    const send = (why: Refusal): void => {
      log('warn', `${name} refused a batch: ${why.status} ${why.error} (${why.message})`, `batch_${why.error}`);
      protocol.refuse(request, response, why);
    };
    const accepted = refusedAtOnce(request, protocol);
    if ('error' in accepted) return send(accepted);
    const body = await readBody(request, { gzip: accepted.gzip, maxBytes: maxBatchBytes, room });
    if (body === undefined) return;
    if ('error' in body) return send(body);
    const batch = await deliver(body, accepted.format, protocol, request.socket, sink as LineSink);
    if ('error' in batch) return send(batch);
    if (options.stored !== undefined && !(await options.stored())) return send(REFUSALS.stored);
    const { accepted: good, rejected, duplicates } = batch.account;
    log(
      'debug',
      `${name} took a batch: ${good} accepted, ${rejected} rejected, ${duplicates} duplicates`,
      'batch_taken',
    );
    protocol.answer(request, response, batch);
  }

  return {
    name,
    handle(request, response, protocol = EVENTS) {
      requests++;
      serve(request, response, protocol)
        .catch((error: unknown) => {
          fail(error);
          response.destroy();
        })
        .finally(() => {
          requests--;
          if (requests === 0) wake();
        });
    },
    async run(to, signal) {
      sink = to;
      const failed = new Promise<never>((_, reject) => {
        fail = reject;
      });
      const ticking = (async () => {
        while (!signal.aborted) {
          publish(to);
          await sleep(pollMs, undefined, { signal }).catch(() => {});
        }
      })();
      await Promise.race([ticking, failed]);
    },
    /** What began to arrive before may end; nothing new begins. */
    async drain(to, budgetMs) {
      isStopping = true;
      if (requests > 0) {
        const isIdle = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const timeout = new AbortController();
        await Promise.race([isIdle, sleep(budgetMs, undefined, { signal: timeout.signal })]);
        timeout.abort();
      }
      publish(to);
    },
    status: () => ({
      name,
      state: 'following',
      faults: [],
      isUp: true,
      files: 0,
      lagBytes: waitingBytes,
      lagSeconds: waitingBytes > 0 && Number.isFinite(newestTs) ? Math.max(0, now() - newestTs) / 1000 : 0,
    }),
  };
}
