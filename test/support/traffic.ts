/**
 * A traffic plan as lines, in order of time, and what the pipeline must find in them by rules said again in other words.
 */
import {
  ANSWERED,
  client,
  close,
  discovery,
  ENDPOINTS,
  end,
  type Fields,
  headers,
  type Line,
  message,
  open,
  parse,
  settle,
} from './build-event.ts';
import { type AttemptPlan, FATES, type IntentPlan, type Plan } from './traffic-plan.ts';

const GET = {
  http_method: 'GET',
  rpc_kind: 'none',
  method: undefined,
  rpc_id: undefined,
  args_digest: undefined,
} as const;

export interface Rendered {
  /** In order of time. */
  readonly lines: readonly Line[];
  /** Index by line: lines of one client (and of those that replace it) keep their order among themselves. */
  readonly groups: readonly number[];
  /** Exchanges that closed in time, by the kind that they must be judged as (null: none). */
  readonly closed: ReadonlyMap<string, 'response' | 'listen' | 'standalone' | null>;
  /** Exchanges that are attempts of an operation, closed or not. */
  readonly attempts: ReadonlySet<string>;
  /** How many calls the hosts meant. */
  readonly operations: number;
}

const GROUPS = 6;

export interface RenderOptions {
  /**
   * Event ids are not reported, so that a resume GET may take up the stream of another call of its client. What belongs to one
   * operation is then for the pipeline alone to say.
   */
  readonly loose?: boolean;
  /** How long before the first line of its exchange a payload line may come. */
  readonly maxEarlyMs?: number;
}

export function render({ intents, mandated }: Plan, options: RenderOptions = {}): Rendered {
  const { loose = false, maxEarlyMs = Number.POSITIVE_INFINITY } = options;
  const placed: { line: Line; group: number }[] = [];
  const closed = new Map<string, 'response' | 'listen' | 'standalone' | null>();
  const attempts = new Set<string>();
  let operations = 0;
  for (const server of [0, 1, 2])
    placed.push({
      line: discovery(-9000, { server: `s${server}`, sentinel: mandated && server === 0 ? 'mandated' : 'optional' }),
      group: -1,
    });
  for (const [index, plan] of intents.entries()) {
    const group = plan.host * (GROUPS / 2) + plan.client;
    const put = (line: Line): void => void placed.push({ line, group });
    const who: Fields = { host: `h${plan.host}`, server: `s${plan.server}`, protocol_version: plan.version };
    const isCall = plan.kind === 'call' || plan.kind === 'list';
    const all = isCall ? [...plan.lost, plan.last] : [plan.last];
    if (isCall) operations++;
    // A client that is replaced is one of its own: another replacement of it would be another story.
    let name = `c${plan.host}${plan.client}${all.some(({ reconnect }) => reconnect) ? `-${index}` : ''}`;
    let at = plan.at;
    for (const [number, planned] of all.entries()) {
      const isLast = number === all.length - 1;
      const attempt = inTime(planned, isLast, maxEarlyMs);
      const id = `x${index}-${number}`;
      if (number > 0) at += attempt.after;
      if (number > 0 && attempt.reconnect) {
        put(client('reconnected', at, { ...who, client: name }));
        name = `${name}r`;
      }
      const fields = { ...who, client: name, ...kindFields(plan, index) };
      at = putExchange(put, plan, attempt, { id, at, fields, digest: loose ? undefined : `e-${id}` });
      if (isCall) attempts.add(id);
      if (FATES[attempt.fate] !== null) closed.set(id, kindOf(plan, attempt));
    }
  }
  const ordered = placed.map((each, i) => ({ ...each, i })).sort((a, b) => a.line.ts - b.line.ts || a.i - b.i);
  return {
    lines: ordered.map(({ line }) => line),
    groups: ordered.map(({ group }) => group),
    ...{ closed, attempts, operations },
  };
}

/**
 * Keeps an attempt inside the retry window of the one before, also where its close line is all that tells of it, and where its
 * caller left it long before it ended. An answer that is resumed ends the call, and so does a caller that is told `cancelled`.
 */
function inTime(attempt: AttemptPlan, isLast: boolean, maxEarlyMs: number): AttemptPlan {
  const { style, after, resume, settle: told } = attempt;
  const longest = style === 'close' ? 120_000 - after : style === 'closeWithOpen' ? 400_000 : Number.POSITIVE_INFINITY;
  const isOpened = style === 'openAndClose' || style === 'all';
  const earliest = Math.max(isLast ? -800_000 : -400_000, isOpened ? -800_000 : -maxEarlyMs);
  const result = told?.result === 'cancelled' && !isLast ? 'error' : told?.result;
  return {
    ...attempt,
    lasts: Math.min(attempt.lasts, longest),
    resume: resume === null ? null : { ...resume, answers: resume.answers && isLast },
    settle: told === null ? null : { result: result as string, at: Math.max(told.at, earliest) },
  };
}

function kindFields({ kind }: IntentPlan, index: number): Fields {
  switch (kind) {
    case 'call':
      return { args_digest: `a${index}`, rpc_id: String(index) };
    case 'list':
      return { method: 'tools/list', target: undefined, args_digest: `a${index}`, rpc_id: String(index) };
    case 'listen':
      return { method: 'subscriptions/listen', target: undefined, args_digest: undefined };
    case 'standalone':
      return { ...GET, protocol_version: '2025-11-25' };
    case 'newGet':
      return { ...GET, protocol_version: '2026-07-28' };
    case 'notification':
      return { rpc_kind: 'notification', method: 'notifications/progress', args_digest: undefined };
    case 'delete':
      return { ...GET, http_method: 'DELETE' };
    case 'resumeAlone':
      return { ...GET, last_event_id: true, event_id_digest: 'nobody' };
  }
}

/** Design section 4, "Stream kind", said again in other words than the source does. */
function kindOf({ kind }: IntentPlan, { fate }: AttemptPlan): 'response' | 'listen' | 'standalone' | null {
  const noHead = fate === 'noResponse' || fate === 'refusedToConnect';
  if (fate === 'redirect' || fate === 'unauthorized') return null;
  if (kind === 'call' || kind === 'list') return 'response';
  if (kind === 'listen') return 'listen';
  if (kind !== 'standalone') return null;
  const { status = 200, content_type: type = 'text/event-stream' } = (FATES[fate] ?? {}) as Fields;
  return noHead || (Number(status) < 300 && type === 'text/event-stream') ? 'standalone' : null;
}

interface Placement {
  readonly id: string;
  readonly at: number;
  readonly fields: Fields;
  readonly digest: string | undefined;
}

/** Puts the lines of one exchange; returns when it ended, or its caller left it. */
function putExchange(
  put: (line: Line) => void,
  plan: IntentPlan,
  attempt: AttemptPlan,
  { id, at, fields, digest }: Placement,
): number {
  const { fate, style, parse: parsed, settle: told, resume } = attempt;
  const { host, server, client: name } = fields;
  const where = { host, server, client: name };
  const request = { ...fields, endpoint: ENDPOINTS[attempt.endpoint] };
  const endAt = at + attempt.lasts;
  const how = FATES[fate] as Fields | null;
  const isOpened = how === null || style === 'openAndClose' || style === 'all';
  if (isOpened) put(open(id, at, request));
  if (how === null) {
    if (told !== null) put(settle(id, endAt, told.result, where));
    return endAt;
  }
  const isPrimed = how.event_ids === 1;
  const ends = { ...how, ...(isPrimed ? { event_id_digest: digest } : {}) };
  const head = how.how === 'no_response' ? {} : { status: 200, content_type: 'text/event-stream' };
  if (style === 'all' && how.how !== 'no_response') {
    put(headers(id, at, { host, ...head, ...pickHead(how) }));
    if (how.terminal === true) put(message(id, endAt, { host, rpc: how.terminal_kind }));
  }
  if (told !== null && told.at < 0) put(settle(id, Math.max(at, endAt + told.at), told.result, where));
  if (parsed !== null && parsed.at < 0) put(parseLine(id, Math.max(at, endAt + parsed.at), parsed, where));
  if (isOpened) put(end(id, endAt, { host, ...head, ...ends }));
  else
    put(close(id, endAt, { ...request, ...ends, ...(style === 'closeWithOpen' ? { open_ts: open(id, at).ts } : {}) }));
  if (parsed !== null && parsed.at >= 0) put(parseLine(id, endAt + parsed.at, parsed, where));
  if (told !== null && told.at >= 0) put(settle(id, endAt + told.at, told.result, where));
  if (isPrimed && resume !== null && plan.kind === 'call') {
    const got = resume.answers ? ANSWERED : {};
    put(open(`${id}-get`, endAt + resume.after, { ...request, ...GET, last_event_id: true, event_id_digest: digest }));
    put(end(`${id}-get`, endAt + resume.after + 700, { host, status: 200, content_type: 'text/event-stream', ...got }));
  }
  return endAt;
}

const pickHead = ({ status, content_type }: Fields): Fields => ({
  ...(status === undefined ? {} : { status }),
  ...(content_type === undefined ? {} : { content_type }),
});

function parseLine(id: string, at: number, plan: { ok: boolean; expected: boolean }, where: Fields): Line {
  const length = plan.expected ? { expected_bytes: 3000 } : {};
  return parse(id, at, { ...where, ok: plan.ok, bytes: 1000, ...length, ...(plan.ok ? {} : { at_end: true }) });
}
