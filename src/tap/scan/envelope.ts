/**
 * What the JSON-RPC envelope of one message says, kept while its bytes pass: kind, id, error code and the closed words of a
 * result. Names the members that are looked at; params, content and error messages are passed over.
 */
import type { InnerJson } from './inner-json.ts';
import { BACKSLASH } from './json-tables.ts';

export type ResultType = 'complete' | 'input_required' | 'task' | 'other';

/** Where members of interest stand. */
export const MESSAGE = 0;
export const RESULT = 1;
export const ERROR = 2;
export const PARAMS = 3;
export const PART = 4;

export const NO_MEMBER = 0;
export const ID = 1;
export const METHOD = 2;
export const RESULT_MEMBER = 3;
export const ERROR_MEMBER = 4;
export const PARAMS_MEMBER = 5;
export const CODE = 6;
export const IS_ERROR = 7;
export const RESULT_TYPE = 8;
export const CONTENT = 9;
export const REQUEST_ID = 10;
export const TYPE = 11;
export const TEXT = 12;

/** The members of interest of each place. */
const MEMBERS: readonly (readonly (readonly [key: string, member: number])[])[] = [];
const define = (place: number, keys: Readonly<Record<string, number>>): void => {
  (MEMBERS as (readonly [string, number])[][])[place] = Object.entries(keys);
};
define(MESSAGE, { id: ID, method: METHOD, result: RESULT_MEMBER, error: ERROR_MEMBER, params: PARAMS_MEMBER });
define(RESULT, { content: CONTENT, isError: IS_ERROR, resultType: RESULT_TYPE });
define(ERROR, { code: CODE });
define(PARAMS, { requestId: REQUEST_ID });
define(PART, { type: TYPE, text: TEXT });

/** Members whose scalar value is read. */
const READ: ReadonlySet<number> = new Set([ID, METHOD, ERROR_MEMBER, CODE, IS_ERROR, RESULT_TYPE, REQUEST_ID, TYPE]);
export const isRead = (member: number): boolean => READ.has(member);

/** Which member of a place a key names, from its raw bytes. Most keys are told by their length and first bytes. */
export function memberOf(place: number, bytes: Uint8Array, from: number, to: number): number {
  for (const [key, member] of MEMBERS[place] as (typeof MEMBERS)[number])
    if (key.length === to - from && isText(key, bytes, from)) return member;
  for (let i = from; i < to; i++)
    if (bytes[i] === BACKSLASH) {
      const key: unknown = JSON.parse(`"${Buffer.from(bytes.subarray(from, to)).toString()}"`);
      return MEMBERS[place]?.find(([name]) => name === key)?.[1] ?? NO_MEMBER;
    }
  return NO_MEMBER;
}

function isText(text: string, bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}

const PLAIN_ID = /^(0|[1-9]\d{0,14})$/;
const NUMBER = /^-?\d/;
const RESULT_TYPES: ReadonlySet<string> = new Set(['complete', 'input_required', 'task'] satisfies ResultType[]);

/** Canonical JSON text of an id (7 and "7" differ, 7 and 7.0 do not); undefined: no id that JSON-RPC knows. */
function canonicalId(text: string | undefined, isString: boolean): string | undefined {
  if (text === undefined) return undefined;
  if (isString) return JSON.stringify(text);
  if (PLAIN_ID.test(text)) return text;
  return NUMBER.test(text) ? JSON.stringify(Number(text)) : undefined;
}

export class Envelope {
  id: string | undefined = undefined;
  /** The id is longer than what is kept: nothing is known of it. */
  idTooLong = false;
  hasMethod = false;
  method: string | undefined = undefined;
  hasResult = false;
  hasError = false;
  errorIsNull = false;
  errorCode: number | undefined = undefined;
  isError: boolean | undefined = undefined;
  resultType: ResultType | undefined = undefined;
  /** Canonical JSON text of params.requestId. */
  requestId: string | undefined = undefined;
  inner: InnerJson = 'none';

  clear(): void {
    this.id = undefined;
    this.idTooLong = false;
    this.hasMethod = false;
    this.method = undefined;
    this.hasResult = false;
    this.hasError = false;
    this.errorIsNull = false;
    this.errorCode = undefined;
    this.requestId = undefined;
    this.#clearResult();
  }

  /** An error of null beside a result is how older JSON-RPC libraries say that there is none. */
  get answer(): 'result' | 'error' | undefined {
    if (this.hasMethod) return undefined;
    if (this.hasError && !(this.errorIsNull && this.hasResult)) return 'error';
    return this.hasResult ? 'result' : undefined;
  }

  /** The value of a member begins: whatever an earlier one of the same name said, the last one wins. */
  begin(member: number): void {
    switch (member) {
      case ID:
        this.id = undefined;
        this.idTooLong = false;
        break;
      case METHOD:
        this.hasMethod = true;
        this.method = undefined;
        break;
      case RESULT_MEMBER:
        this.hasResult = true;
        this.#clearResult();
        break;
      case ERROR_MEMBER:
        this.hasError = true;
        this.errorIsNull = false;
        this.errorCode = undefined;
        break;
      case CODE:
        this.errorCode = undefined;
        break;
      case IS_ERROR:
        this.isError = undefined;
        break;
      case RESULT_TYPE:
        this.resultType = undefined;
        break;
      case CONTENT:
        this.inner = 'none';
        break;
      case PARAMS_MEMBER:
      case REQUEST_ID:
        this.requestId = undefined;
        break;
    }
  }

  /** A scalar value of a member that is read; undefined: too long. */
  value(member: number, text: string | undefined, isString: boolean): void {
    switch (member) {
      case ID:
        this.id = canonicalId(text, isString);
        this.idTooLong = text === undefined;
        break;
      case METHOD:
        if (isString) this.method = text;
        break;
      case ERROR_MEMBER:
        this.errorIsNull = !isString && text === 'null';
        break;
      case CODE:
        if (!isString && text !== undefined && NUMBER.test(text) && Number.isSafeInteger(Number(text)))
          this.errorCode = Number(text);
        break;
      case IS_ERROR:
        if (!isString && (text === 'true' || text === 'false')) this.isError = text === 'true';
        break;
      case RESULT_TYPE:
        if (isString) this.resultType = RESULT_TYPES.has(text ?? '') ? (text as ResultType) : 'other';
        break;
      case REQUEST_ID:
        this.requestId = canonicalId(text, isString);
        break;
    }
  }

  #clearResult(): void {
    this.isError = undefined;
    this.resultType = undefined;
    this.inner = 'none';
  }
}
