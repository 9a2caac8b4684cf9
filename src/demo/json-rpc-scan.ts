/**
 * Reads the JSON-RPC envelope of one document while its bytes pass: the kind of message, its id, the error code, and the two
 * closed words of a result. Params, result content and error messages are passed over and never kept.
 */
import { type JsonListener, JsonScan } from './json-scan.ts';

export interface Envelope {
  /** The id as JSON text, so that 7 and "7" stay apart. */
  id?: string;
  method?: true;
  answer?: 'result' | 'error';
  errorCode?: number;
  isError?: boolean;
  resultType?: string;
}

export type IdMatch = 'match' | 'mismatch' | 'null_id';

type Take = (envelope: Envelope, text: string) => void;

/** The members of interest, by path. */
const MEMBERS = new Map<string, Take>([
  ['id', (envelope, text) => Object.assign(envelope, { id: text })],
  [
    'error.code',
    (envelope, text) => Number.isSafeInteger(Number(text)) && Object.assign(envelope, { errorCode: Number(text) }),
  ],
  ['result.isError', (envelope, text) => Object.assign(envelope, { isError: text === 'true' })],
  ['result.resultType', (envelope, text) => Object.assign(envelope, { resultType: String(JSON.parse(text)) })],
]);

class EnvelopeReader implements JsonListener {
  readonly envelope: Envelope = {};
  readonly #keys: string[] = [];

  wants(depth: number, isKey: boolean): boolean {
    return isKey ? depth <= 2 : MEMBERS.has(this.#path(depth));
  }

  key(depth: number, text: string | undefined): void {
    if (depth > 2) return;
    const key = text === undefined ? '' : String(JSON.parse(text));
    this.#keys[depth - 1] = key;
    this.#keys.length = depth;
    if (depth === 1 && key === 'method') this.envelope.method = true;
    if (depth === 1 && (key === 'result' || key === 'error')) this.envelope.answer = key;
  }

  scalar(depth: number, text: string | undefined): void {
    if (text !== undefined) MEMBERS.get(this.#path(depth))?.(this.envelope, text);
  }

  #path(depth: number): string {
    return depth <= 2 ? this.#keys.slice(0, depth).join('.') : '';
  }
}

export class JsonRpcScan extends JsonScan {
  readonly envelope: Envelope;

  constructor() {
    const reader = new EnvelopeReader();
    super(reader);
    this.envelope = reader.envelope;
  }

  /** How the id of an answer compares with the id of the request; undefined when this is no answer (yet). */
  idMatch(requestId: string | number): IdMatch | undefined {
    const { answer, id } = this.envelope;
    if (answer === undefined) return undefined;
    if (id === undefined || id === 'null') return 'null_id';
    return JSON.parse(id) === requestId ? 'match' : 'mismatch';
  }
}
