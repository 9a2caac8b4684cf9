/**
 * What the JSON-RPC envelope of one message says, kept while its bytes pass: kind, id, error code and the closed words of a
 * result. Names the places of the document that are looked at; params, content and error messages are passed over.
 */
import type { InnerJson } from './inner-json.ts';

export type ResultType = 'complete' | 'input_required' | 'task' | 'other';

export interface Envelope {
  /** Canonical JSON text of the id (7 and "7" differ); undefined: none, or no id that JSON-RPC knows. */
  id: string | undefined;
  /** The id is longer than what is kept: nothing is known of it. */
  idTooLong: boolean;
  method: string | undefined;
  hasMethod: boolean;
  result: boolean;
  /** value: something else than null. */
  error: 'none' | 'null' | 'value';
  errorCode: number | undefined;
  isError: boolean | undefined;
  resultType: ResultType | undefined;
  /** Canonical JSON text of params.requestId. */
  requestId: string | undefined;
  inner: InnerJson;
}

const emptyResult = { isError: undefined, resultType: undefined, inner: 'none' } as const;

export const emptyEnvelope = (): Envelope => ({
  id: undefined,
  idTooLong: false,
  method: undefined,
  hasMethod: false,
  result: false,
  error: 'none',
  errorCode: undefined,
  requestId: undefined,
  ...emptyResult,
});

/** An error of null beside a result is how older JSON-RPC libraries say that there is none. */
export function answerOf({ result, error, hasMethod }: Envelope): 'result' | 'error' | undefined {
  if (hasMethod) return undefined;
  if (error === 'value' || (error === 'null' && !result)) return 'error';
  return result ? 'result' : undefined;
}

const ID = /^["\d-]/;
const RESULT_TYPES: ReadonlySet<string> = new Set(['complete', 'input_required', 'task'] satisfies ResultType[]);

const canonicalId = (text: string | undefined): string | undefined =>
  text !== undefined && ID.test(text) ? JSON.stringify(JSON.parse(text)) : undefined;

/** A member of interest. `begin`: its value begins, whatever an earlier one of the same name said (the last one wins). */
interface Member {
  begin(envelope: Envelope): void;
  /** JSON text of a scalar value; undefined: too long. */
  value?(envelope: Envelope, text: string | undefined): void;
}

/** By path: root members by name, those one level below as `parent.name`. */
export const MEMBERS: ReadonlyMap<string, Member> = new Map<string, Member>([
  [
    'id',
    {
      begin: (envelope) => Object.assign(envelope, { id: undefined, idTooLong: false }),
      value: (envelope, text) => Object.assign(envelope, { id: canonicalId(text), idTooLong: text === undefined }),
    },
  ],
  [
    'method',
    {
      begin: (envelope) => Object.assign(envelope, { hasMethod: true, method: undefined }),
      value(envelope, text) {
        if (text?.startsWith('"')) envelope.method = JSON.parse(text);
      },
    },
  ],
  ['result', { begin: (envelope) => Object.assign(envelope, { result: true, ...emptyResult }) }],
  [
    'error',
    {
      begin: (envelope) => Object.assign(envelope, { error: 'value', errorCode: undefined }),
      value(envelope, text) {
        if (text === 'null') envelope.error = 'null';
      },
    },
  ],
  [
    'params',
    {
      begin(envelope) {
        envelope.requestId = undefined;
      },
    },
  ],
  [
    'error.code',
    {
      begin(envelope) {
        envelope.errorCode = undefined;
      },
      value(envelope, text = '') {
        if (/^[\d-]/.test(text) && Number.isSafeInteger(Number(text))) envelope.errorCode = Number(text);
      },
    },
  ],
  [
    'result.isError',
    {
      begin(envelope) {
        envelope.isError = undefined;
      },
      value(envelope, text) {
        if (text === 'true' || text === 'false') envelope.isError = text === 'true';
      },
    },
  ],
  [
    'result.resultType',
    {
      begin(envelope) {
        envelope.resultType = undefined;
      },
      value(envelope, text = '') {
        if (!text.startsWith('"')) return;
        const word: string = JSON.parse(text);
        envelope.resultType = RESULT_TYPES.has(word) ? (word as ResultType) : 'other';
      },
    },
  ],
  [
    'result.content',
    {
      begin(envelope) {
        envelope.inner = 'none';
      },
    },
  ],
  [
    'params.requestId',
    {
      begin(envelope) {
        envelope.requestId = undefined;
      },
      value(envelope, text) {
        envelope.requestId = canonicalId(text);
      },
    },
  ],
]);
