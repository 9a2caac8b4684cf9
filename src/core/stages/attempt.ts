/** From an exchange record to the few facts about it that its operation may be asked for later. */
import type { EventFields, WireEvent } from '../model/event.ts';
import { type Exchange, isUnseen } from '../model/exchange.ts';
import type { Attempt, Edge, Operation, ParseOf, UnseenEnd } from '../model/operation.ts';
import type { Verdict } from '../model/verdict.ts';
import { KEPT } from '../state.ts';
import { HeldNames } from './held-names.ts';
import { TIMEOUT_WORDS } from './stream-facts.ts';

const NO_EDGES: readonly Edge[] = [];

/** Written out as fields, so that all of them have one shape. */
class AttemptRecord extends HeldNames implements Attempt {
  exchange = '';
  key = '';
  policy: Attempt['policy'] = undefined;
  version: Attempt['version'] = 'unknown';
  method: Attempt['method'] = null;
  argsDigest: Attempt['argsDigest'] = null;
  requestKey: Attempt['requestKey'] = null;
  client: Attempt['client'] = null;
  openTs = Number.NaN;
  openKnown = false;
  trace: Attempt['trace'] = null;
  endpoint: Attempt['endpoint'] = null;
  operation: Attempt['operation'] = null;
  origin: Attempt['origin'] = null;
  line = 0;
  counted = false;
  owner: Attempt['owner'] = null;
  gone = false;
  closeTs = Number.NaN;
  judgedTs = Number.NaN;
  verdict: Attempt['verdict'] = null;
  suspended: Attempt['suspended'] = false;
  wait: Attempt['wait'] = null;
  status: Attempt['status'] = null;
  terminal = false;
  terminalTs: Attempt['terminalTs'] = null;
  terminalKind: Attempt['terminalKind'] = null;
  idMatch: Attempt['idMatch'] = null;
  errorCode: Attempt['errorCode'] = null;
  isError = false;
  inputRequired = false;
  inputResponses = false;
  notSent = false;
  idempotent = false;
  declaredSafe = false;
  bytes = 0;
  fullLength: Attempt['fullLength'] = null;
  cutOrEmpty = false;
  parseFailed = false;
  parsedOk = false;
  okBytes: Attempt['okBytes'] = null;
  trends: Attempt['trends'] = null;
  unseen: Attempt['unseen'] = null;
  settled: Attempt['settled'] = null;
  settledTs = Number.NaN;
  timedOutOpen = false;
}

export const emptyAttempt = (): Attempt => new AttemptRecord();

class OperationRecord extends HeldNames implements Operation {
  key: string;
  policy: Operation['policy'];
  version: Operation['version'];
  method: string | null;
  argsDigest: string | null;
  requestKey: string | null;
  readonly attempts: Attempt[];
  edges: readonly Edge[] = NO_EDGES;
  indexed: Operation['indexed'] = null;
  cancelled = false;
  ended = false;
  deadline = Number.POSITIVE_INFINITY;
  place: Operation['place'] = null;

  constructor(attempt: Attempt) {
    super();
    this.key = attempt.requestKey ?? attempt.argsDigest ?? attempt.exchange;
    this.host = attempt.host;
    this.server = attempt.server;
    this.policy = attempt.policy;
    this.version = attempt.version;
    this.method = attempt.method;
    this.target = attempt.target;
    this.argsDigest = attempt.argsDigest;
    this.requestKey = attempt.requestKey;
    this.attempts = [attempt];
  }
}

export const operationOf = (attempt: Attempt): Operation => new OperationRecord(attempt);

const NAMES: readonly string[] = ['host', 'server', 'target'] satisfies (keyof HeldNames)[];
for (const { prototype, like } of [
  { prototype: AttemptRecord.prototype, like: emptyAttempt() },
  { prototype: OperationRecord.prototype, like: operationOf(emptyAttempt()) },
])
  Object.defineProperty(prototype, KEPT, { value: [...Object.keys(like), ...NAMES] });

/** What waits in the index with its only attempt: the names of both stand in its key there. */
export function holdNamesIn(key: string, operation: Operation): void {
  const { attempts } = operation;
  if (attempts.length > 1 || !(operation instanceof HeldNames)) return;
  operation.holdIn(key);
  const [attempt] = attempts;
  if (attempt instanceof HeldNames) attempt.holdIn(key);
}

/** What left the index, or goes on, shares its names with others. */
export function releaseNames(operation: Operation): void {
  if (operation instanceof HeldNames) operation.release();
  for (const attempt of operation.attempts) if (attempt instanceof HeldNames) attempt.release();
}

/** Most attempts are written down as they end (rows.ts), and their objects used again at once: a few serve for all. */
export interface AttemptPool {
  open(exchange: Exchange): Attempt;
  /** Nothing but the caller holds it any more. */
  release(attempt: Attempt): void;
}

export function createAttemptPool(): AttemptPool {
  const free: Attempt[] = [];
  return {
    open(exchange) {
      const attempt = free.pop() ?? emptyAttempt();
      begin(attempt, exchange);
      return attempt;
    },
    release: (attempt) => free.push(attempt),
  };
}

/** Field by field: copying a template over it costs ten times as much. */
function begin(attempt: Attempt, exchange: Exchange): void {
  attempt.exchange = exchange.id;
  attempt.key = exchange.key;
  attempt.host = exchange.host;
  refresh(attempt, exchange);
  attempt.operation = null;
  attempt.counted = false;
  attempt.owner = null;
  attempt.gone = false;
  attempt.closeTs = Number.NaN;
  attempt.judgedTs = Number.NaN;
  attempt.verdict = null;
  attempt.suspended = false;
  attempt.wait = null;
  attempt.status = null;
  attempt.terminal = false;
  attempt.terminalTs = null;
  attempt.terminalKind = null;
  attempt.idMatch = null;
  attempt.errorCode = null;
  attempt.isError = false;
  attempt.inputRequired = false;
  attempt.bytes = 0;
  attempt.cutOrEmpty = false;
  attempt.parseFailed = false;
  attempt.parsedOk = false;
  attempt.okBytes = null;
  attempt.trends = null;
  attempt.unseen = null;
  attempt.settled = null;
  attempt.settledTs = Number.NaN;
  attempt.timedOutOpen = false;
}

/** Takes over what the lines so far tell of the request and of the response head (later values win). */
export function refresh(attempt: Attempt, exchange: Exchange): void {
  const { fields } = exchange;
  attempt.server = exchange.server;
  attempt.policy = exchange.policy;
  attempt.version = exchange.version;
  attempt.method = fields.method ?? null;
  attempt.target = fields.target ?? null;
  attempt.argsDigest = fields.args_digest ?? null;
  attempt.requestKey = fields.request_key ?? null;
  attempt.client = exchange.client;
  attempt.openTs = exchange.openTs;
  attempt.openKnown = exchange.openKnown;
  attempt.trace = fields.trace ?? null;
  attempt.endpoint = exchange.endpoint;
  attempt.origin = exchange.origin;
  attempt.line = exchange.line;
  attempt.inputResponses = fields.input_responses === true;
  attempt.notSent = fields.sent === 'none';
  attempt.idempotent = fields.idempotency_key === true;
  const hints = fields.annotations ?? null;
  attempt.declaredSafe = hints !== null && (hints.read_only === true || hints.idempotent === true);
  attempt.fullLength = fullLengthOf(fields);
}

/** Points at the line that changed it where its own line is not known any more. */
export function noteLine(attempt: Attempt, event: WireEvent): void {
  if (attempt.origin !== null) return;
  attempt.origin = event.origin;
  attempt.line = event.line;
}

/** Takes over what a parse line tells. */
export function noteParse(attempt: Attempt, event: WireEvent, failed: boolean): void {
  noteLine(attempt, event);
  if (failed) {
    attempt.parseFailed = true;
    return;
  }
  attempt.parsedOk = true;
  const { of, bytes } = event.fields;
  if (typeof bytes !== 'number') return;
  attempt.okBytes ??= {};
  attempt.okBytes[of as ParseOf] = bytes;
}

/** Takes over what only the end of the exchange tells. */
export function closeAttempt(attempt: Attempt, exchange: Exchange): void {
  const { fields } = exchange;
  attempt.owner = null;
  attempt.origin = exchange.origin;
  attempt.line = exchange.line;
  attempt.closeTs = exchange.closeTs;
  attempt.judgedTs = exchange.closeTs;
  attempt.status = fields.status ?? null;
  attempt.idMatch = fields.id_match ?? null;
  attempt.notSent = attempt.notSent && attempt.status === null && !exchange.terminal;
  attempt.bytes = fields.bytes ?? 0;
  noteAnswer(attempt, exchange);
  attempt.unseen = isUnseen(exchange) ? unseenEnd(fields.error) : null;
  attempt.cutOrEmpty =
    fields.json === 'cut' ||
    fields.json === 'empty' ||
    fields.cut === 'mid' ||
    ((fields.bytes === 0 || fields.cut === 'none') && !exchange.terminal);
}

function unseenEnd(error: string | null | undefined): UnseenEnd {
  if (error === undefined || error === null) return 'nothing';
  if (TIMEOUT_WORDS.has(error)) return 'timeout';
  return error === 'AbortError' ? 'cancelled' : 'error';
}

/** What the answer was: on the exchange itself, or on the GET that resumed it. */
function noteAnswer(attempt: Attempt, exchange: Exchange): void {
  const { fields } = exchange;
  attempt.terminal = exchange.terminal;
  attempt.terminalTs = fields.terminal_ts ?? null;
  attempt.terminalKind = fields.terminal_kind ?? null;
  attempt.errorCode = fields.error_code ?? null;
  attempt.isError = fields.is_error === true;
  attempt.inputRequired = fields.result_type === 'input_required';
}

/** `leg`: the GET stream that brought the answer of a suspended exchange. */
export function judgeAttempt(attempt: Attempt, verdict: Verdict | null, at: number, leg: Exchange | null): void {
  attempt.verdict = verdict;
  attempt.judgedTs = at;
  attempt.wait = null;
  if (verdict?.cause === 'cut_payload') attempt.cutOrEmpty = true;
  if (leg !== null) noteAnswer(attempt, leg);
}

/** Content-Length is the full length of the payload only where the body is not encoded. */
function fullLengthOf(fields: EventFields): number | null {
  const { content_length, content_encoding } = fields;
  if (content_length === undefined || content_length === null) return null;
  return content_encoding === undefined || content_encoding === null || content_encoding === 'identity'
    ? content_length
    : null;
}
