/**
 * What a caller of an SDK received, as a closed word: by classes and codes, never by a text. Nothing of a result or an error is kept.
 */
import { knownWord } from '../error-words.ts';
import { isTimeout } from '../fetch/words.ts';

export type SettleWord = 'ok' | 'tool_error' | 'rpc_error' | 'error' | 'timeout' | 'cancelled';

export interface Outcome {
  readonly result: SettleWord;
  readonly error?: string;
}

/** Of the older SDK: the transport is gone. Servers use the number too. */
const CONNECTION_CLOSED = -32000;

export function outcomeOfResult(method: string, value: unknown): Outcome {
  const failed = method === 'tools/call' && (value as { isError?: unknown } | null | undefined)?.isError === true;
  return { result: failed ? 'tool_error' : 'ok' };
}

export interface FailureContext {
  /** The signal that the caller handed over with the request. */
  readonly signal: AbortSignal | undefined;
  /** The client has no transport any more. */
  readonly disconnected: boolean;
}

export function outcomeOfError(error: unknown, { signal, disconnected }: FailureContext): Outcome {
  // Both SDKs report the caller's own abort with the code of their timeout: its reason tells them apart.
  if (signal?.aborted) {
    if (isTimeout(signal.reason)) return { result: 'timeout', error: 'TimeoutError' };
    return { result: 'cancelled', error: 'AbortError' };
  }
  if (isTimeout(error)) return { result: 'timeout', error: 'REQUEST_TIMEOUT' };
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  const className = (error as object | null | undefined)?.constructor?.name;
  if (typeof code === 'string') return { result: 'error', error: knownWord(code, className, name) };
  const kind = knownWord(className, name);
  if (code === CONNECTION_CLOSED && disconnected) return { result: 'error', error: 'CONNECTION_CLOSED' };
  if (typeof code === 'number' && RPC_ERRORS.has(kind)) return { result: 'rpc_error', error: kind };
  return { result: 'error', error: kind };
}

/** Classes that stand for a JSON-RPC error of the server, and those made of it by code. */
const RPC_ERRORS: ReadonlySet<string> = new Set([
  ...['McpError', 'ProtocolError', 'UrlElicitationRequiredError', 'UnsupportedProtocolVersionError'],
  ...['MissingRequiredClientCapabilityError', 'ResourceNotFoundError'],
]);
