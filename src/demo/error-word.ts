/** Closed code words for errors. Never their messages: undici and the SDKs put addresses and whole bodies into them. */

/** Errors of a fetch that failed before any byte of the request was written. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

export const isNotSent = (word: string): boolean => NOT_SENT.has(word);

export const abortWord = (signal: AbortSignal): string =>
  signal.reason instanceof Error && signal.reason.name === 'TimeoutError' ? 'TimeoutError' : 'AbortError';

/** The code of the cause, else of the error, else its class name. */
export function errorWord(reason: unknown): string {
  const { cause, code, name } = (reason ?? {}) as { cause?: { code?: unknown }; code?: unknown; name?: unknown };
  for (const word of [cause?.code, code, name]) if (typeof word === 'string' && /^\w{1,64}$/.test(word)) return word;
  return 'Error';
}
