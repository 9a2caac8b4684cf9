/** The grammar of RFC 8259 by bytes: what is plain text in a string, which escapes exist, how a number may go on. Pure data. */

const code = (char: string): number => char.charCodeAt(0);
const table = (isIn: (byte: number) => boolean): Uint8Array => Uint8Array.from({ length: 256 }, (_, c) => +isIn(c));
const among =
  (chars: string) =>
  (byte: number): boolean =>
    byte < 0x80 && chars.includes(String.fromCharCode(byte));

export const QUOTE = code('"');
export const BACKSLASH = code('\\');
export const COMMA = code(',');
export const COLON = code(':');
export const OPEN_OBJECT = code('{');
export const CLOSE_OBJECT = code('}');
export const OPEN_LIST = code('[');
export const CLOSE_LIST = code(']');
export const LOWER_U = code('u');

/** Inside a string: bytes that change nothing. Bytes above 0x7f are text whether they are valid UTF-8 or not, as for TextDecoder. */
export const PLAIN = table((c) => c >= 0x20 && c !== QUOTE && c !== BACKSLASH);
/** What may follow a backslash, `u` apart. */
export const SIMPLE_ESCAPE = table(among('"\\/bfnrt'));
export const HEX = table(among('0123456789abcdefABCDEF'));
export const SPACE = table(among(' \t\n\r'));

export const LITERALS = ['true', 'false', 'null'] as const;
/** First byte of a literal to its index in LITERALS plus one. */
export const LITERAL_START = Uint8Array.from(
  { length: 256 },
  (_, c) => LITERALS.findIndex((word) => code(word) === c) + 1,
);

/** States of a number; 0 is "no number goes on like this". */
const STATES = ['none', 'start', 'minus', 'zero', 'int', 'point', 'fraction', 'e', 'sign', 'exponent'] as const;
type State = (typeof STATES)[number];
const STEPS = ['other', 'zero', 'digit', '-', '+', '.', 'e'] as const;
type Step = (typeof STEPS)[number];

const GRAMMAR: Record<State, Partial<Record<Step, State>>> = {
  none: {},
  start: { '-': 'minus', zero: 'zero', digit: 'int' },
  minus: { zero: 'zero', digit: 'int' },
  zero: { '.': 'point', e: 'e' },
  int: { zero: 'int', digit: 'int', '.': 'point', e: 'e' },
  point: { zero: 'fraction', digit: 'fraction' },
  fraction: { zero: 'fraction', digit: 'fraction', e: 'e' },
  e: { '+': 'sign', '-': 'sign', zero: 'exponent', digit: 'exponent' },
  sign: { zero: 'exponent', digit: 'exponent' },
  exponent: { zero: 'exponent', digit: 'exponent' },
};

function stepOf(c: number): Step {
  if (c === code('0')) return 'zero';
  if (c > code('0') && c <= code('9')) return 'digit';
  if (c === code('e') || c === code('E')) return 'e';
  return STEPS.find((step) => step.length === 1 && code(step) === c) ?? 'other';
}

export const NUMBER_START = STATES.indexOf('start');
/** Index of the step that a byte is. */
export const NUMBER_STEP = Uint8Array.from({ length: 256 }, (_, c) => STEPS.indexOf(stepOf(c)));
/** The next state, at `state << 3 | step`. */
export const NUMBER_NEXT = Uint8Array.from({ length: STATES.length << 3 }, (_, at) => {
  const step = STEPS[at & 7];
  const next = step === undefined ? undefined : GRAMMAR[STATES[at >> 3] as State][step];
  return next === undefined ? 0 : STATES.indexOf(next);
});
/** May a number end in this state? */
export const NUMBER_ENDS = Uint8Array.from(STATES, (state) => +['zero', 'int', 'fraction', 'exponent'].includes(state));
