/** The grammar of RFC 8259 by bytes, as tables: what may stand where, which escapes exist, how a number goes on. Pure data. */

const code = (char: string): number => char.charCodeAt(0);
const table = (isIn: (byte: number) => boolean): Uint8Array => Uint8Array.from({ length: 256 }, (_, c) => +isIn(c));
const among =
  (chars: string) =>
  (byte: number): boolean =>
    byte < 0x80 && chars.includes(String.fromCharCode(byte));

export const QUOTE = code('"');
export const BACKSLASH = code('\\');
export const COLON = code(':');
export const OPEN_OBJECT = code('{');
export const OPEN_LIST = code('[');
export const LOWER_U = code('u');

/** Inside a string: bytes that change nothing. Bytes above 0x7f are text whether they are valid UTF-8 or not, as for TextDecoder. */
export const PLAIN = table((c) => c >= 0x20 && c !== QUOTE && c !== BACKSLASH);
/** What a byte behind a backslash stands for; 0: nothing, or (`u`) not by itself. */
export const ESCAPED = new Uint8Array(256);
for (const [letter, char] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPED[code(letter as string)] = code(char as string);
export const HEX = table(among('0123456789abcdefABCDEF'));
export const SPACE = table(among(' \t\n\r'));

/** Where a scanner stands between tokens. */
export const VALUE = 0;
export const FIRST_ITEM = 1;
export const KEY = 2;
export const FIRST_KEY = 3;
export const AFTER_KEY = 4;
export const AFTER_ITEM = 5;
export const AFTER_MEMBER = 6;
export const DONE = 7;

/** What a byte does there. */
export const WRONG = 0;
export const PASS = 1;
export const BEGIN_KEY = 2;
export const BEGIN_STRING = 3;
export const BEGIN_NUMBER = 4;
export const BEGIN_LITERAL = 5;
export const BEGIN_OBJECT = 6;
export const BEGIN_LIST = 7;
export const END = 8;
export const GO_ON = 9;

const IN_VALUE: readonly (readonly [chars: string, action: number])[] = [
  ['"', BEGIN_STRING],
  ['-0123456789', BEGIN_NUMBER],
  ['tfn', BEGIN_LITERAL],
  ['{', BEGIN_OBJECT],
  ['[', BEGIN_LIST],
];
const MOVES: Readonly<Record<number, typeof IN_VALUE>> = {
  [VALUE]: IN_VALUE,
  [FIRST_ITEM]: [...IN_VALUE, [']', END]],
  [KEY]: [['"', BEGIN_KEY]],
  [FIRST_KEY]: [
    ['"', BEGIN_KEY],
    ['}', END],
  ],
  [AFTER_KEY]: [[':', GO_ON]],
  [AFTER_ITEM]: [
    [',', GO_ON],
    [']', END],
  ],
  [AFTER_MEMBER]: [
    [',', GO_ON],
    ['}', END],
  ],
  [DONE]: [],
};
/** The action at `place << 8 | byte`. */
export const ACTIONS = new Uint8Array(8 << 8);
for (const [place, moves] of Object.entries(MOVES))
  for (const [chars, action] of [...moves, [' \t\n\r', PASS] as const])
    for (const char of chars) ACTIONS[(Number(place) << 8) | code(char)] = action;

/** Where it goes on behind a colon or a comma. */
export const NEXT = new Uint8Array(8);
NEXT[AFTER_KEY] = VALUE;
NEXT[AFTER_ITEM] = VALUE;
NEXT[AFTER_MEMBER] = KEY;

const LITERALS = ['true', 'false', 'null'] as const;
/** The literal that begins with this byte. */
export const literalOf = (c: number): string => LITERALS.find((word) => code(word) === c) as string;

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
/** The next state, at `state << 8 | byte`. */
export const NUMBER_NEXT = new Uint8Array(STATES.length << 8);
for (const [state, name] of STATES.entries())
  for (let c = 0; c < 256; c++)
    NUMBER_NEXT[(state << 8) | c] = Math.max(0, STATES.indexOf(GRAMMAR[name][stepOf(c)] ?? 'none'));
/** May a number end in this state? */
export const NUMBER_ENDS = Uint8Array.from(STATES, (state) => +['zero', 'int', 'fraction', 'exponent'].includes(state));
