/**
 * What goes out by OTLP: the numbers of each snapshot, operations as traces, evidence as logs, each signal by a cycle of its own. It owns
 * what waits and what a backend is known to have, and its part of the checkpoint. It decides neither what is counted nor what is evidence,
 * and must not hold the pipeline up. (docs/decisions/0019-opentelemetry-out.md)
 */
import type { Cells } from '../../core/measures/cells.ts';
import type { Fact } from '../../core/model/facts.ts';
import { loadParts, type Parts, type Saved, saveParts } from '../../core/state.ts';
import { logOf, type PlainLog } from '../../exporters/otel-log.ts';
import { createDeltas, takeNumbers } from '../../exporters/otel-numbers.ts';
import { type PlainSpan, spansOf } from '../../exporters/otel-trace.ts';
import type { Collected, Exposition } from '../exposition.ts';
import { CLOCK, type Clock, type Cycle, createCycle } from './cycle.ts';
import { metricDataOf } from './metric-data.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { ownResource } from './resource.ts';
import { createSdk } from './sdk.ts';
import { createSender, type Payloads, type Sender, type SendResult } from './sender.ts';
import { type OtelSettings, SIGNALS, type Signal } from './settings.ts';
import { createTally, type Say } from './tally.ts';

export interface OtelOptions {
  readonly settings: OtelSettings;
  readonly cells: Cells;
  readonly exposition: Pick<Exposition, 'collect' | 'collectAll'>;
  /** When the counters began at 0, Unix ms, and whether they go on from an earlier life. */
  readonly since: number;
  readonly isRestored: boolean;
  /** What an earlier life had saved. */
  readonly saved: Saved;
  /** Has what a backend has acknowledged in a checkpoint soon; undefined: nothing is kept. */
  readonly commitSoon: (() => Promise<unknown>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** HOST:PORT of the scrape listener, as it is configured. */
  readonly address: string;
  readonly say: Say;
  readonly clock?: Clock;
}

export interface Otel {
  /** While the fact is valid. */
  onFact(fact: Fact): void;
  /** The evidence that was just made of it. */
  onRecord(fact: Fact, record: Readonly<Record<string, unknown>>): void;
  /** Brings the gauges up to date. */
  refresh(): void;
  save(): Saved;
  /** Exports what there is, for so long at most. */
  flush(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Spans or log records of one export. */
const BATCH = 512;

type Send = <S extends Signal>(
  signal: S,
  payload: Payloads[S],
  entries: number,
  withinMs?: number,
) => Promise<SendResult>;

/** @throws while another one is not closed. */
export function createOtel(options: OtelOptions): Otel {
  const { settings, cells, exposition, since, say, clock = CLOCK } = options;
  const { targets, isDelta } = settings;
  const startedMs = clock.now();
  // Who begins to export differences in the middle of a life tells what is added from now on.
  const isJoining = isDelta && options.isRestored;
  const deltas = createDeltas(isJoining ? startedMs : since, isJoining ? takeNumbers(cells.families()) : []);
  const outboxes = { traces: createOutbox(settings.tracesQueue), logs: createOutbox(settings.logsQueue) };
  const parts: Parts = new Map();
  if (isDelta) parts.set('otlp_acknowledged', deltas.part);
  for (const signal of ['traces', 'logs'] as const)
    if (targets[signal] !== undefined) parts.set(`otlp_${signal}`, outboxes[signal].part);
  loadParts(parts, options.saved);

  let latest: Collected | undefined;
  let isClosed = false;
  const sdk = createSdk({
    resource: ownResource(options.env, options.address),
    produce() {
      if (latest === undefined) return [];
      const { numbers, atMs } = latest;
      const period = { isDelta, sinceMs: isDelta ? deltas.sinceMs : since, processSinceMs: startedMs, atMs };
      return metricDataOf(isDelta ? deltas.since(numbers) : numbers, period);
    },
  });
  const tally = createTally(cells, settings, say);
  const senders = new Map(
    SIGNALS.flatMap((signal) => {
      const target = targets[signal];
      return target === undefined ? [] : [[signal, createSender(signal, target)] as const];
    }),
  );
  const send: Send = async (signal, payload, entries, withinMs) => {
    const result = await (senders.get(signal) as Sender<typeof signal>).send(payload, withinMs);
    // What the close cut off is no news of the backend.
    if (!isClosed || result.status === 'ok') tally.ended(signal, entries, result);
    return result;
  };
  const waitAfter = (result: SendResult): number => (result.status === 'failed' ? result.retryAfterMs : 0);

  async function exportMetrics(collected: Collected | undefined, withinMs?: number): Promise<number> {
    if (collected === undefined || isClosed) return 0;
    latest = collected;
    const result = await send('metrics', await sdk.collect(), 0, withinMs);
    if (result.status === 'ok') {
      collected.answered();
      if (isDelta) {
        deltas.acknowledge(collected.numbers, collected.atMs);
        void options.commitSoon?.();
      }
    }
    return waitAfter(result);
  }

  async function sendTexts(signal: 'traces' | 'logs', texts: readonly string[], withinMs?: () => number) {
    let entries = texts.length;
    try {
      const all: unknown[] = texts.map((text) => JSON.parse(text));
      if (signal === 'logs') return await send(signal, await sdk.logs(all as PlainLog[]), entries, withinMs?.());
      entries = all.flat().length;
      return await send(signal, await sdk.spans(all.flat() as PlainSpan[]), entries, withinMs?.());
    } catch {
      // What another version had saved and this one cannot read must not come again with each life.
      const result: SendResult = { status: 'refused', reason: 'internal', retries: 0 };
      tally.ended(signal, entries, result);
      return result;
    }
  }

  async function empty(signal: 'traces' | 'logs', withinMs?: () => number): Promise<number> {
    const outbox: Outbox = outboxes[signal];
    while (outbox.size > 0 && !isClosed) {
      const before = outbox.size;
      const texts = outbox.batch(BATCH);
      const result = await sendTexts(signal, texts, withinMs);
      if (result.status === 'failed') return result.retryAfterMs;
      outbox.done(texts.length);
      // What comes faster than it goes waits for the next turn.
      if (outbox.size >= before) break;
    }
    return 0;
  }

  const turns: Readonly<Record<Signal, readonly [everyMs: number, turn: () => Promise<number>]>> = {
    metrics: [settings.metricsIntervalMs, async () => exportMetrics(await exposition.collect())],
    traces: [settings.tracesDelayMs, () => empty('traces')],
    logs: [settings.logsDelayMs, () => empty('logs')],
  };
  const cycles: Cycle[] = [...senders.keys()].map((signal) => createCycle(turns[signal][0], clock, turns[signal][1]));

  const offer = (signal: 'traces' | 'logs', value: unknown, weight: number): void => {
    if (!outboxes[signal].offer(JSON.stringify(value), weight)) tally.drop(signal, weight, 'queue_full');
  };

  return {
    onFact(fact) {
      if (fact.is !== 'operation' || targets.traces === undefined) return;
      const spans = spansOf(fact, settings.tracesShare);
      if (spans !== null) offer('traces', spans, spans.length);
    },
    onRecord(fact, record) {
      const log = targets.logs === undefined ? null : logOf(fact, record);
      if (log !== null) offer('logs', log, 1);
    },
    refresh() {
      for (const signal of ['traces', 'logs'] as const)
        if (targets[signal] !== undefined) cells.set('otlp_queue_entries', outboxes[signal].size, [signal]);
    },
    save: () => saveParts(parts),
    async flush(withinMs) {
      const endsAt = clock.now() + withinMs;
      const left = (): number => Math.max(1, endsAt - clock.now());
      const all = async (): Promise<void> => {
        await Promise.all(cycles.map((cycle) => cycle.stop()));
        // An export that was under way may have taken all the time there was.
        if (isClosed) return;
        await Promise.all([
          senders.has('metrics') && exposition.collectAll().then((collected) => exportMetrics(collected, left())),
          senders.has('traces') && empty('traces', left),
          senders.has('logs') && empty('logs', left),
        ]);
      };
      let cancel = (): void => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(withinMs, resolve);
      });
      await Promise.race([all(), late]);
      cancel();
      const waiting = outboxes.traces.size + outboxes.logs.size;
      if (waiting > 0)
        say('warn', `${waiting} spans and log records were not exported before the stop`, 'otlp_stopped');
    },
    async close() {
      isClosed = true;
      for (const cycle of cycles) void cycle.stop();
      for (const sender of senders.values()) sender.close();
      await sdk.close();
    },
  };
}
