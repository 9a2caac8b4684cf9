/**
 * decode -> sequence -> track -> classify (and suspend) -> correlate -> detect -> measure. Lines in, facts and numbers out; no
 * I/O and no clock: time is the `ts` of the events and `tick`.
 */
import { type Cell, type Cells, createCells } from './measures/cells.ts';
import { createMeasure, type Measure } from './measures/measure.ts';
import type { Origin, Rejection, RejectionReason, WireEvent } from './model/event.ts';
import { clientKey, createExchangeKey, kindOf, serverLabel, writerKey } from './model/exchange.ts';
import type { Fact } from './model/facts.ts';
import type { EventType } from './model/fields.ts';
import { LIMITS } from './model/limits.ts';
import { DEFAULT_POLICY, type Policy } from './model/policy.ts';
import { STREAMS } from './model/verdict.ts';
import { type Version, versionLabel } from './protocol/revisions.ts';
import { LineScanner } from './scan/scan.ts';
import type { TextBytes } from './scan/words.ts';
import { createCorrelate } from './stages/correlate.ts';
import { decode, isRejection } from './stages/decode.ts';
import { createDetect } from './stages/detect.ts';
import { type Classified, createResume } from './stages/resume.ts';
import { createSequence } from './stages/sequence.ts';
import { createTrack, type Tracked } from './stages/track.ts';
import { createStoreHealth } from './store.ts';

export interface PipelineOptions {
  readonly policy?: Policy;
  readonly cells?: Cells;
  /** Host of most lines: the default of the sources. */
  readonly home?: string;
  /** Time follows the newest event by itself (a replay) instead of `tick` alone (live: time is the sources' watermark). */
  readonly ownClock?: boolean;
  /** Called with every fact, after it was measured. */
  readonly onFact?: ((fact: Fact) => void) | undefined;
}

export interface Pipeline {
  readonly cells: Cells;
  /**
   * One line of text. Returns the event time of an accepted one, undefined for a rejected one (counted by reason).
   * `notAfter`: a later `ts` is rejected as `future_ts` (the live run passes wall clock + 5 min; a replay has no wall clock).
   */
  line(text: string, origin: Origin, line: number, offset: number, notAfter?: number): number | undefined;
  /**
   * The same for a line that is still bytes, if it is written as most are: false leaves everything as it was, and the line is to be
   * given as text.
   */
  bytes(bytes: TextBytes, start: number, end: number, origin: Origin, line: number, offset: number): boolean;
  /** An event that was decoded elsewhere (a replay merges files by time first). */
  accept(event: WireEvent): void;
  reject(reason: RejectionReason, origin: Origin): void;
  invalidUtf8(origin: Origin): void;
  /** Everything up to `now` (Unix ms) was delivered: closes what is due. Never goes back. */
  tick(now: number): void;
  /** No more input: closes every window. */
  finish(): void;
  /** Brings gauges of state up to date; call before the cells are read. */
  refresh(): void;
}

/** Event time between two ticks of the own clock: lines find what is due by themselves, ticks only keep the state small. */
const OWN_TICK_MS = 100;

export function createPipeline(options: PipelineOptions = {}): Pipeline {
  const { policy = DEFAULT_POLICY, cells = createCells(), home = 'files', ownClock = false, onFact } = options;
  const health = createStoreHealth();
  const measure = createMeasure(cells);
  const detect = createDetect(health, policy, createExchangeKey(home));
  const track = createTrack(policy, health, home, () => correlate.held());
  const resume = createResume(policy, health);
  const correlate = createCorrelate(policy, health, home, (key) => resume.overdue(key, onClassified));
  const scanner = new LineScanner();
  const latestVersion = new Map<string, Version | null>();
  let now = Number.NEGATIVE_INFINITY;
  let lastTs = 0;
  let nextTick = Number.NEGATIVE_INFINITY;

  const state = (fact: Fact): void => {
    measure(fact);
    if (onFact === undefined) return;
    // Built now, for a listener that keeps the fact.
    if (fact.is === 'operation') void fact.operation;
    onFact(fact);
  };
  const onFacts = (fact: Fact): void => {
    state(fact);
    detect.push(fact, state);
  };
  const onClassified = (input: Classified): void => {
    if (input.is === 'judged')
      onFacts({ is: 'verdict', exchange: input.exchange, kind: input.kind, verdict: input.verdict });
    else onFacts({ is: 'suspended', exchange: input.exchange });
    correlate.classified(input, onFacts);
  };
  /** Stated once for each pair while it is the latest of its server. */
  const noteSeen = (server: string, version: Version | null): void => {
    const latest = latestVersion.get(server);
    if (latest !== undefined && (version === null || latest === version)) return;
    if (latestVersion.size >= LIMITS.servers) latestVersion.clear();
    latestVersion.set(server, version);
    onFacts({ is: 'seen', server, version });
  };
  const onTracked = (input: Tracked): void => {
    switch (input.is) {
      case 'opened':
        noteSeen(input.exchange.server, input.exchange.version);
        resume.opened(input.exchange, onClassified);
        break;
      case 'closed':
        noteSeen(input.exchange.server, input.exchange.version);
        resume.closed(input.exchange, onClassified);
        return;
      case 'expired':
        resume.expired(input.exchange);
        onFacts({ is: 'expired', exchange: input.exchange, reason: input.reason });
        break;
      case 'contract': {
        const version = versionLabel(input.event.fields.protocol_version, undefined);
        noteSeen(input.server, version);
        onFacts({ is: 'contract', server: input.server, version, contract: input.contract });
        return;
      }
      case 'notified':
        // The notifications of a response are about its request: they announce nothing.
        if (kindOf(input.exchange) !== 'response')
          onFacts({ is: 'notified', server: input.exchange.server, ts: input.ts });
        return;
      case 'parse':
      case 'settle':
      case 'client': {
        const { fields } = input.event;
        if (typeof fields.server === 'string') noteSeen(policy.server(fields.server)?.name ?? fields.server, null);
        break;
      }
      case 'late':
        cells.add('events_late', 1, [input.event.origin.source]);
        return;
    }
    correlate.tracked(input, onFacts);
    if (input.is === 'client')
      onFacts({ is: 'client', event: input.event, server: serverLabel(input.event.fields, policy), client: input.key });
  };
  const sequence = createSequence(
    {
      missing: (source, count) => cells.add('events_missing', count, [source]),
      restarted: (writer, ts) => track.writerGone(writer, ts, onTracked),
    },
    health,
  );

  /** Streams that were open once show 0 when they are not. */
  const openStreams = new Map<string, number>();
  const eventCells = new Map<string, Cell>();
  let latestCell: Cell | undefined;
  const countEvent = (source: string, type: EventType): void => {
    let cell = latestCell;
    // One source and mostly one type at a time.
    if (cell === undefined || cell.values[1] !== type || cell.values[0] !== source) {
      cell = eventCells.get(type);
      if (cell === undefined || cell.values[0] !== source) {
        cell = cells.cell('events', [source, type]) ?? undefined;
        if (cell === undefined) {
          cells.add('events', 1, [source, type]);
          return;
        }
        eventCells.set(type, cell);
      }
      latestCell = cell;
    }
    cell.value++;
  };
  const tick = (to: number): void => {
    // Also without progress: a line may have brought a window that was due already.
    if (to > now) now = to;
    sequence.tick(now);
    // What is over first: an exchange expires later than the operation that has left it ends.
    resume.tick(now, onClassified);
    correlate.tick(now, onFacts);
    track.tick(now, onTracked);
    resume.tick(now, onClassified);
    correlate.tick(now, onFacts);
    detect.tick(now);
  };
  const accept = (event: WireEvent): void => {
    const { origin, type, fields, ts } = event;
    if (ownClock && ts >= nextTick) {
      nextTick = ts + OWN_TICK_MS;
      tick(ts);
    }
    lastTs = ts;
    if (fields.seq !== undefined && fields.seq !== null)
      sequence.push(writerKey(fields, origin), fields.seq, ts, origin.source);
    if (type === 'segment' || type === 'end') return;
    countEvent(origin.source, type);
    if (type === 'settle' && typeof fields.client === 'string')
      onFacts({ is: 'reports', client: clientKey(fields.host ?? origin.host, fields.client, ''), ts });
    if (type === 'gap') cells.add('events_missing', fields.dropped as number, [origin.source]);
    else track.push(event, onTracked);
  };
  const reject = (reason: RejectionReason, origin: Origin): void =>
    cells.add('events_rejected', 1, [origin.source, reason]);

  // Known from the configuration: their findings start at 0 like those of any server that was seen.
  for (const server of policy.servers) measure({ is: 'seen', server: server.name, version: null });
  for (const server of policy.servers) greetConfigured(server.name, measure, policy);

  return {
    cells,
    accept,
    reject,
    line(text, origin, line, offset, notAfter = Number.POSITIVE_INFINITY) {
      const decoded: WireEvent | Rejection = decode(text, origin, line, offset);
      if (isRejection(decoded)) {
        reject(decoded.rejected, origin);
        // A broken line is not a missing one.
        if (decoded.seq !== undefined) sequence.push(writerKey(decoded, origin), decoded.seq, lastTs, origin.source);
        return undefined;
      }
      if (decoded.ts > notAfter) {
        reject('future_ts', origin);
        return undefined;
      }
      accept(decoded);
      return decoded.ts;
    },
    bytes(bytes, start, end, origin, line, offset) {
      const event = scanner.scan(bytes, start, end, origin, line, offset);
      if (event === null) return false;
      accept(event);
      return true;
    },
    invalidUtf8: (origin) => cells.add('events_invalid_utf8', 1, [origin.source]),
    tick,
    finish: () => tick(Number.POSITIVE_INFINITY),
    refresh() {
      const open = new Map<string, number>(openStreams);
      for (const exchange of track.open()) {
        const kind = kindOf(exchange);
        if (!exchange.openKnown || kind === 'none' || kind === 'resume') continue;
        const key = `${STREAMS.indexOf(kind)}${measure.serverLabel(exchange.server)}`;
        open.set(key, (open.get(key) ?? 0) + 1);
      }
      for (const [key, count] of open) {
        openStreams.set(key, 0);
        cells.set('streams_open', count, [key.slice(1), STREAMS[Number(key[0])] as (typeof STREAMS)[number]]);
      }
      for (const [store, size] of health.sizes) cells.set('state_entries', size(), [store]);
      for (const [store, count] of health.evictions) cells.add('state_evictions', count, [store]);
      health.evictions.clear();
    },
  };
}

/** A configured contract is a fact before any event: regime C is an error to fix before it fails. */
function greetConfigured(name: string, measure: Measure, policy: Policy): void {
  const server = policy.servers.find((each) => each.name === name);
  if (server?.sentinel === undefined && server?.selfDelimiting === undefined) return;
  const contract = { sentinel: server.sentinel, selfDelimiting: server.selfDelimiting };
  measure({ is: 'contract', server: name, version: 'unknown', contract });
}
