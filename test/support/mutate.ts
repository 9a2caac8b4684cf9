/** Valid lines of every type, and ways to break them as disks, writers and strangers do. All by dice: a seed repeats them. */
import { EVENT_TYPES, FIELDS, type FieldSpec } from '../../src/core/model/fields.ts';
import type { Line } from './build-event.ts';
import { T0 } from './build-event.ts';
import type { Dice } from './random.ts';

const WORDS = ['x', 'tools/call', 'application/json', 'ECONNRESET', '2025-11-25', 'a:b', ''];

function sample(spec: FieldSpec, roll: Dice): unknown {
  if (typeof spec.is !== 'string') return roll.pick(spec.is);
  switch (spec.is) {
    case 'id':
      return `i${roll.int(50)}`;
    case 'word':
    case 'text':
      return roll.pick(WORDS);
    case 'bool':
      return roll.chance(0.5);
    case 'time':
      return roll.chance(0.7) ? T0 + roll.int(1e6) : new Date(T0 + roll.int(1e6)).toISOString();
    case 'object':
      return Object.fromEntries(Object.entries(spec.of ?? {}).map(([name, part]) => [name, sample(part, roll)]));
    default:
      return roll.int(2000);
  }
}

/** A line that the decoder must accept, with any of the declared fields of its type. */
export function validLine(roll: Dice): Line {
  const type = roll.pick(Object.keys(EVENT_TYPES) as (keyof typeof EVENT_TYPES)[]);
  const { required, optional } = EVENT_TYPES[type];
  const line: Record<string, unknown> = { v: 1, type, ts: T0 + roll.int(1e6) };
  for (const name of required) line[name] = sample(FIELDS[name], roll);
  for (const name of optional) if (roll.chance(0.3)) line[name] = roll.chance(0.1) ? null : sample(FIELDS[name], roll);
  for (const name of ['writer', 'client', 'host', 'server', 'endpoint'] as const)
    if (roll.chance(0.3)) line[name] = sample(FIELDS[name], roll);
  if (roll.chance(0.2)) line.seq = roll.int(100);
  return line as Line;
}

const NUMBERS = [0, -0, -1, 0.1, 1e308, -1e308, 2 ** 53, 2 ** 53 + 2, 1e21, -32601, 4294967296, 8.64e15, 8.64e15 + 1];
const TEXTS = [
  '',
  '\0',
  '\u2028',
  '\ud800',
  '\udfff\ud800',
  '\u{1F600}',
  'é',
  '__proto__',
  'a\nb',
  '"',
  '\\',
  'x'.repeat(129),
];
const FIELD_NAMES = Object.keys(FIELDS);
const OTHERS = [null, true, false, [], {}, [[]], { a: { b: [] } }, ['x']];

/** Changes of one field of the parsed line. */
function mutateField(line: Record<string, unknown>, name: string, roll: Dice): void {
  const other = roll.pick(Object.keys(line));
  const value = line[name];
  switch (roll.int(9)) {
    case 0:
      delete line[name];
      break;
    case 1:
      line[name] = roll.pick(OTHERS);
      break;
    case 2:
      line[name] = roll.pick(NUMBERS);
      break;
    case 3:
      line[name] = roll.pick(TEXTS);
      break;
    case 4:
      line[name] = String(value);
      break;
    case 5:
      line[name] = [value];
      break;
    case 6:
      line[name] = line[other];
      line[other] = value;
      break;
    case 7:
      line[`${name}${roll.pick(TEXTS)}`] = value;
      break;
    default:
      line[roll.pick(FIELD_NAMES)] = roll.pick([...OTHERS, ...NUMBERS, ...TEXTS]);
  }
}

const CHARS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '0',
  '9',
  '-',
  'e',
  '.',
  ' ',
  '\0',
  '\t',
  '\u00ff',
  '\ufffd',
  '\ud83d',
  'n',
];

/** Changes of the text. */
const OF_TEXT: readonly ((text: string, roll: Dice) => string)[] = [
  // A flipped bit of one byte (of one UTF-16 unit here: the decoder is given text).
  (text, roll) => {
    const at = roll.int(text.length);
    return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << roll.int(8))) + text.slice(at + 1);
  },
  (text, roll) => {
    const at = roll.int(text.length);
    return text.slice(0, at) + text.slice(at + 1 + roll.int(8));
  },
  (text, roll) => {
    const at = roll.int(text.length);
    const part = text.slice(at, at + 1 + roll.int(40));
    return text.slice(0, at) + part + text.slice(at);
  },
  (text, roll) => text.slice(0, roll.int(text.length)),
  (text, roll) => text.slice(roll.int(text.length)),
  (text, roll) => {
    const at = roll.int(text.length);
    return text.slice(0, at) + roll.pick(CHARS) + text.slice(at + (roll.chance(0.5) ? 1 : 0));
  },
  (text, roll) =>
    text.replace(/\d+/, () => roll.pick(['1e400', '-1e400', '9'.repeat(400), '1.5e-400', '00', '0x10', 'NaN'])),
];

/** One line, broken once to three times. */
export function mutant(valid: readonly Line[], roll: Dice): string {
  const source = roll.pick(valid);
  let text: string;
  if (roll.chance(0.5)) {
    const line: Record<string, unknown> = { ...source };
    for (let i = 1 + roll.int(2); i > 0; i--) mutateField(line, roll.pick(Object.keys(line)), roll);
    text = JSON.stringify(line);
    if (!roll.chance(0.2)) return text;
  } else text = JSON.stringify(source);
  for (let i = 1 + roll.int(2); i > 0; i--) text = roll.pick(OF_TEXT)(text, roll);
  return text;
}
