/** The number grammar of RFC 8259 as a table: which character may follow in which state. Pure data for json-scan.ts. */
export type NumberState = 'start' | 'minus' | 'zero' | 'int' | 'point' | 'fraction' | 'e' | 'sign' | 'exponent';

type Step = 'zero' | 'digit' | '-' | '+' | '.' | 'e';

const NEXT: Record<NumberState, Partial<Record<Step, NumberState>>> = {
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
const ENDS: ReadonlySet<NumberState> = new Set(['zero', 'int', 'fraction', 'exponent']);

const STEPS = new Map<number, Step>(
  [...'0123456789'].map((digit): [number, Step] => [digit.charCodeAt(0), digit === '0' ? 'zero' : 'digit']),
);
for (const char of ['-', '+', '.', 'e'] as const) STEPS.set(char.charCodeAt(0), char);
STEPS.set('E'.charCodeAt(0), 'e');

/** The state after byte `c`, or undefined when no number goes on that way. */
export function nextNumberState(state: NumberState, c: number): NumberState | undefined {
  const step = STEPS.get(c);
  return step === undefined ? undefined : NEXT[state][step];
}

export const mayEndNumber = (state: NumberState): boolean => ENDS.has(state);
