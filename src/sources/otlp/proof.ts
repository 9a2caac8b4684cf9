/**
 * What the span of a client proves about its call, as one table: first match wins. A span tells what the instrumentation saw, above
 * the transport: never how a stream ended. What none of the rows names is not known, and must stay so.
 */
import { STATUS_ERROR, STATUS_OK } from './signals.ts';
import type { SpanFacts } from './span-facts.ts';

/** Fields of the `close` line. */
export interface Proof {
  readonly terminal?: true;
  readonly terminal_kind?: 'result' | 'error';
  readonly error_code?: number;
  readonly is_error?: true;
  readonly error?: 'TimeoutError' | 'AbortError' | 'Error';
}

interface Row {
  readonly says: string;
  readonly proves: string;
  readonly when: (call: Call) => boolean;
  readonly proof: (call: Call) => Proof;
}

/** A call as the rows look at it. */
export interface Call {
  readonly span: SpanFacts;
  /** There is one answer to wait for: no notification, no subscription. */
  readonly isAnswered: boolean;
  /** JSON-RPC error code. */
  readonly code: number | null;
  readonly hasFailed: boolean;
  /** How it failed, without packages and in lower case. */
  readonly word: string;
}

/**
 * Codes that client SDKs make up themselves, for a connection that broke, a timeout, an HTTP error or a body that they could not
 * read (Python SDK 2.3.0: -32700, -32600, -32601, -32603, -32000; TypeScript SDK 1.x: -32000, -32001). A server may have sent
 * them as well: they prove that the caller got an error, not that an answer came.
 */
export const MADE_UP_CODES: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32603, -32000, -32001]);

const TIMEOUTS: ReadonlySet<string> = new Set([
  ...['timeout', 'timeouterror', 'timeoutexception', 'timed_out', 'deadline_exceeded', 'deadlineexceeded'],
  ...['readtimeout', 'connecttimeout', 'writetimeout', 'pooltimeout', 'sockettimeoutexception'],
  ...['request_timeout', 'requesttimeout', 'etimedout', 'und_err_headers_timeout', 'und_err_body_timeout'],
]);
const CANCELLATIONS: ReadonlySet<string> = new Set([
  ...['cancelled', 'canceled', 'cancellederror', 'cancelederror', 'cancellationexception', 'cancellation'],
  ...['aborterror', 'aborted', 'operationcanceledexception', 'taskcanceledexception'],
]);
/** By the conventions the code itself, or this. */
const TOOL_ERROR = 'tool_error';

export const PROOFS: readonly Row[] = [
  {
    says: 'a JSON-RPC error code that no SDK makes up',
    proves: 'the answer arrived: an error',
    when: ({ isAnswered, code }) => isAnswered && code !== null && !MADE_UP_CODES.has(code),
    proof: ({ code }) => ({ terminal: true, terminal_kind: 'error', error_code: code as number }),
  },
  {
    says: '`error.type` is `tool_error`',
    proves: 'the answer arrived: a result with `isError`',
    when: ({ isAnswered, span }) => isAnswered && span.attributes['error.type'] === TOOL_ERROR,
    proof: () => ({ terminal: true, terminal_kind: 'result', is_error: true }),
  },
  {
    says: 'failed, by a word for a timeout',
    proves: 'the caller ran out of patience',
    when: ({ hasFailed, word }) => hasFailed && TIMEOUTS.has(word),
    proof: () => ({ error: 'TimeoutError' }),
  },
  {
    says: 'failed, by a word for a cancellation',
    proves: 'the caller gave it up',
    when: ({ hasFailed, word }) => hasFailed && CANCELLATIONS.has(word),
    proof: () => ({ error: 'AbortError' }),
  },
  {
    says: 'failed in any other way: status ERROR, `error.type`, a code that SDKs make up, or an HTTP status of 400 or more',
    proves: 'the caller got an error',
    when: ({ hasFailed }) => hasFailed,
    proof: () => ({ error: 'Error' }),
  },
  {
    says: 'status OK, or `gen_ai.tool.call.result` is there',
    proves: 'the answer arrived: a result',
    when: ({ isAnswered, span }) =>
      isAnswered && (span.status === STATUS_OK || span.attributes['gen_ai.tool.call.result'] === true),
    proof: () => ({ terminal: true, terminal_kind: 'result' }),
  },
  {
    says: 'none of these (status UNSET)',
    // SDKs end the span of a call that was cancelled, or whose connection broke, in the same way as that of one that was answered.
    proves: 'nothing but that the call is over',
    when: () => true,
    proof: () => ({}),
  },
];

/** A whole number that is no HTTP status: some write that where a code belongs. */
function codeOf(value: string | number | undefined): number | null {
  const code = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof code === 'number' && code !== 0 && !(code >= 100 && code <= 599) ? code : null;
}

/** `asyncio.exceptions.TimeoutError` is one like any other. */
const lastWord = (type: string | undefined): string => (type ?? '').split(/[.:/]/).at(-1)?.toLowerCase() ?? '';

function wordOf(type: string | undefined, exception: string | undefined): string {
  const own = lastWord(type);
  return TIMEOUTS.has(own) || CANCELLATIONS.has(own) ? own : lastWord(exception);
}

export function callOf(span: SpanFacts, isAnswered: boolean): Call {
  const { attributes, status, exception } = span;
  const type = attributes['error.type'];
  const code = codeOf(attributes['rpc.response.status_code'] ?? type);
  const isRefused = (attributes['http.response.status_code'] ?? 0) >= 400;
  const hasFailed = status === STATUS_ERROR || type !== undefined || code !== null || isRefused;
  return { span, isAnswered, code, hasFailed, word: hasFailed ? wordOf(type, exception) : '' };
}

export function prove(call: Call): Proof {
  return (PROOFS.find(({ when }) => when(call)) as Row).proof(call);
}
