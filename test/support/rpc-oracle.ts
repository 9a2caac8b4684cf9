/** What the JSON-RPC messages of a parsed document say, the plain way: the second opinion of the message scanner tests. */

export interface Reading {
  readonly matched: readonly Found[];
  readonly other: Found | undefined;
  readonly notifications: number;
  readonly cancelled: readonly (string | undefined)[];
}
export interface Found {
  readonly idJson: string | undefined;
  readonly match: 'match' | 'mismatch' | 'null_id';
  readonly kind: 'result' | 'error';
  readonly errorCode: number | undefined;
  readonly isError: boolean | undefined;
  readonly resultType: string | undefined;
  readonly inner: 'none' | 'ok' | 'bad';
}

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Own members only: `__proto__` and `constructor` are names like any other. */
const own = (of: unknown, key: string): unknown => (isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined);
const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : undefined;
const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

function innerOf(content: unknown): Found['inner'] {
  if (!Array.isArray(content)) return 'none';
  const texts = content.filter((part) => own(part, 'type') === 'text').map((part) => own(part, 'text'));
  const looking = texts.filter((text): text is string => typeof text === 'string' && /^[ \t\r\n]*[[{]/.test(text));
  if (looking.length === 0) return 'none';
  return looking.every(parses) ? 'ok' : 'bad';
}

export function readMessages(document: unknown, isAwaited: (idJson: string) => boolean): Reading {
  const matched: Found[] = [];
  const cancelled: (string | undefined)[] = [];
  let other: Found | undefined;
  let notifications = 0;
  for (const message of Array.isArray(document) ? document : [document]) {
    if (!isObject(message)) continue;
    const id = idOf(own(message, 'id'));
    if (Object.hasOwn(message, 'method')) {
      if (typeof message.method !== 'string' || id !== undefined) continue;
      notifications++;
      if (message.method === 'notifications/cancelled') cancelled.push(idOf(own(message.params, 'requestId')));
      continue;
    }
    const hasResult = Object.hasOwn(message, 'result');
    const isFailure = Object.hasOwn(message, 'error') && !(message.error === null && hasResult);
    if (!hasResult && !isFailure) continue;
    const code = own(own(message, 'error'), 'code');
    const result = own(message, 'result');
    const isError = own(result, 'isError');
    const resultType = own(result, 'resultType');
    const known = ['complete', 'input_required', 'task'].includes(resultType as string);
    const found: Found = {
      idJson: id,
      match: id === undefined ? 'null_id' : isAwaited(id) ? 'match' : 'mismatch',
      kind: isFailure ? 'error' : 'result',
      errorCode: Number.isSafeInteger(code) ? (code as number) : undefined,
      isError: typeof isError === 'boolean' ? isError : undefined,
      resultType: typeof resultType !== 'string' ? undefined : known ? resultType : 'other',
      inner: innerOf(own(result, 'content')),
    };
    if (found.match === 'match') matched.push(found);
    else other ??= found;
  }
  return { matched, other, notifications, cancelled };
}
