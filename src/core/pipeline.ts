/**
 * decode -> sequence -> track -> classify (and suspend) -> correlate -> detect -> measure. Lines in, facts and numbers out; no
 * I/O and no clock: time is the `ts` of the events and `tick`.
 */
import { createCells } from './measures/cells.ts';
import { createEventCounter } from './measures/event-counter.ts';
import { createGauges } from './measures/gauges.ts';
import { greetConfigured } from './measures/greet-configured.ts';
import { createMeasure } from './measures/measure.ts';
import type { EventFields, Origin, Rejection, RejectionReason, WireEvent } from './model/event.ts';
import { createExchangeKey, kindOf, serverLabel, writerKey } from './model/exchange.ts';
import { clientKey } from './model/exchange-names.ts';
import type { Fact, FindingFact, VerdictFact } from './model/facts.ts';
import { LIMITS } from './model/limits.ts';
import { DEFAULT_POLICY, withHiddenFunctions } from './model/policy.ts';
import type { Pipeline, PipelineOptions } from './pipeline-types.ts';
import { type Version, versionLabel } from './protocol/revisions.ts';
import { LineScanner } from './scan/scan.ts';
import { createCorrelate } from './stages/correlate.ts';
import { decode, isRejection } from './stages/decode.ts';
import { createDetect } from './stages/detect.ts';
import { createRepeats, NO_TIME } from './stages/repeats.ts';
import { type Classified, createResume } from './stages/resume.ts';
import { createRevive } from './stages/revive.ts';
import { createSegments } from './stages/segments.ts';
import { createSequence } from './stages/sequence.ts';
import { createTrack, type Tracked } from './stages/track.ts';
import { keep, keepMap, keepValues, loadParts, saveParts } from './state.ts';
import { createStoreHealth } from './store.ts';

export type { Pipeline, PipelineOptions };

type Numbered = Pick<EventFields, 'writer' | 'host' | 'seq'>;

/** Event time between two ticks of the own clock: lines find what is due by themselves, ticks only keep the state small. */
const OWN_TICK_MS = 100;
const DUPLICATE: Rejection = { rejected: 'duplicate' };
const FUTURE: Rejection = { rejected: 'future_ts', field: 'ts' };

export function createPipeline(options: PipelineOptions = {}): Pipeline {
  const { cells = createCells(), home = 'files', ownClock = false, onFact, onEvent, wallClock } = options;
  const { plainFacts = true } = options;
  const policy = withHiddenFunctions(options.policy ?? DEFAULT_POLICY);
  const health = createStoreHealth();
  keep(health.parts, 'cells', cells.part);
  const measure = createMeasure(cells, health.parts);
  const detect = createDetect(health, policy, createExchangeKey(home));
  const revive = createRevive(policy);
  const scanner = new LineScanner();
  const { ids } = scanner;
  const track = createTrack(policy, health, home, revive, () => correlate.held(), ids);
  const resume = createResume(policy, health, revive);
  const correlate = createCorrelate(policy, health, home, revive, (key) => resume.overdue(key, onClassified), ids);
  const latestVersion = keepMap<string, Version | null>(health.parts, 'latest_version');
  const time = keepValues(health.parts, 'time', {
    now: Number.NEGATIVE_INFINITY,
    lastTs: 0,
    nextTick: Number.NEGATIVE_INFINITY,
  });
  const repeats = createRepeats(health);

  const tell = (fact: Fact, cause: Fact | null): void => {
    measure(fact);
    if (onFact !== undefined && (plainFacts || fact.is !== 'operation' || fact.result !== 'first_try'))
      onFact(fact, cause);
  };
  /** What findings are found in now. */
  let cause: Fact | null = null;
  const onFinding = (fact: FindingFact): void => tell(fact, cause);
  const onFacts = (fact: Fact): void => {
    tell(fact, null);
    cause = fact;
    detect.push(fact, onFinding);
  };
  const onClassified = (input: Classified): void => {
    if (input.is === 'judged') {
      const fact: VerdictFact = { is: 'verdict', exchange: input.exchange, kind: input.kind, verdict: input.verdict };
      measure.verdict(fact);
      if (onFact !== undefined && (plainFacts || input.verdict?.outcome !== 'clean')) onFact(fact, null);
      cause = fact;
      detect.verdict(fact, onFinding);
    } else onFacts({ is: 'suspended', exchange: input.exchange });
    correlate.classified(input, onFacts);
  };
  /** Stated once for each pair while it is the latest of its server. */
  const noteSeen = (server: string, version: Version | null): void => {
    const latest = latestVersion.get(server);
    if (latest !== undefined && (version === null || latest === version)) return;
    if (latestVersion.size >= LIMITS.servers) latestVersion.clear();
    latestVersion.set(server, version);
    tell({ is: 'seen', server, version }, null);
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
  const segments = createSegments(
    {
      unclean: (source) => cells.add('writers_unclean', 1, [source]),
      headless: sequence.expect,
      joinedMidway: sequence.forgive,
    },
    health,
  );
  /** A line of this time may come. The clock costs as much as reading a field, so it is asked once between two ticks. */
  let notAfter = wallClock === undefined ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const countEvent = createEventCounter(cells);
  const gauges = createGauges(cells, health, { open: track.open, serverLabel: measure.serverLabel });
  const tick = (to: number): void => {
    if (wallClock !== undefined) notAfter = Number.NEGATIVE_INFINITY;
    // Also without progress: a line may have brought a window that was due already.
    const now = Math.max(to, time.now);
    time.now = now;
    sequence.tick(now);
    repeats.tick(now);
    segments.tick(now);
    // What is over first: an exchange expires later than the operation that has left it ends.
    resume.tick(now, onClassified);
    correlate.tick(now, onFacts);
    track.tick(now, onTracked);
    resume.tick(now, onClassified);
    correlate.tick(now, onFacts);
    detect.tick(now);
  };
  /** A refused line is not a missing one: it has its place too, at the time of the lines around it. */
  const noteSeq = (line: Numbered, origin: Origin, ts: number): void => {
    if (line.seq !== undefined && line.seq !== null)
      sequence.push(writerKey(line, origin), line.seq, ts, origin.source);
  };
  const accept = (event: WireEvent): void => {
    const { origin, type, fields, ts } = event;
    if (onEvent !== undefined) onEvent(event);
    if (ownClock && ts >= time.nextTick) {
      time.nextTick = ts + OWN_TICK_MS;
      tick(ts);
    }
    time.lastTs = ts;
    noteSeq(fields, origin, ts);
    if (type === 'segment' || type === 'end') {
      segments.push(writerKey(fields, origin), event);
      return;
    }
    countEvent(origin.source, type);
    if (type === 'settle' && typeof fields.client === 'string')
      onFacts({ is: 'reports', client: clientKey(fields.host ?? origin.host, fields.client, ''), ts });
    if (type === 'gap') cells.add('events_missing', fields.dropped as number, [origin.source]);
    else track.push(event, onTracked);
  };
  const reject = (reason: RejectionReason, origin: Origin): void =>
    cells.add('events_rejected', 1, [origin.source, reason]);

  const refuse = (rejection: Rejection, origin: Origin): Rejection => {
    reject(rejection.rejected, origin);
    return rejection;
  };
  /** Only of sources that may repeat themselves; without a name of its own a writer cannot be known again. */
  const isRepeat = (line: Numbered, origin: Origin, ts: number): boolean => {
    const { writer, seq } = line;
    if (origin.mayRepeat !== true || !writer || seq === undefined || seq === null) return false;
    return repeats.isRepeat(writerKey(line, origin), seq, ts);
  };
  const isFuture = (ts: number): boolean => {
    notAfter = (wallClock as () => number)() + LIMITS.maxFutureMs;
    return ts > notAfter;
  };
  const take = (event: WireEvent): number | Rejection => {
    const { fields, origin, ts } = event;
    if (origin.mayRepeat === true && isRepeat(fields, origin, ts)) return refuse(DUPLICATE, origin);
    if (ts > notAfter && isFuture(ts)) {
      noteSeq(fields, origin, time.lastTs);
      return refuse(FUTURE, origin);
    }
    accept(event);
    return ts;
  };

  greetConfigured(policy, measure);

  return {
    cells,
    accept,
    reject,
    refuse(rejection, origin) {
      noteSeq(rejection, origin, time.lastTs);
      refuse(rejection, origin);
    },
    line(text, origin, line, offset) {
      const decoded: WireEvent | Rejection = decode(text, origin, line, offset);
      if (!isRejection(decoded)) return take(decoded);
      if (isRepeat(decoded, origin, NO_TIME)) return refuse(DUPLICATE, origin);
      noteSeq(decoded, origin, time.lastTs);
      return refuse(decoded, origin);
    },
    bytes(bytes, start, end, origin, line, offset) {
      const event = scanner.scan(bytes, start, end, origin, line, offset);
      const taken = event && take(event);
      ids.end();
      return taken;
    },
    room: (bytes) => scanner.room(bytes),
    invalidUtf8: (origin) => cells.add('events_invalid_utf8', 1, [origin.source]),
    silent: segments.silent,
    tick,
    finish: () => tick(Number.POSITIVE_INFINITY),
    refresh: gauges,
    save: () => saveParts(health.parts),
    load: (saved) => loadParts(health.parts, saved),
  };
}
