/** `tailfin/classify`: the truth table of the source document, and that the full classifier follows the very same rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyStreamOutcome, StreamCompletionAmbiguousError, type StreamOutcomeInput } from '../src/classify.ts';
import { close, discovery, type Fields, runLines } from './support/build-event.ts';
import { holds } from './support/property.ts';

/**
 * The truth table of the source document. Columns: terminal sentinel seen, payload self-delimiting, its integrity ok, discovery
 * sticky.
 */
const TRUTH: readonly (readonly [bits: string, outcome: 'clean' | 'abandoned' | 'raises'])[] = [
  ...(['1000', '1001', '1010', '1011', '1100', '1101', '1110', '1111'] as const).map(
    (bits) => [bits, 'clean'] as const,
  ),
  ['0110', 'clean'],
  ['0111', 'clean'],
  ['0100', 'abandoned'],
  ['0101', 'abandoned'],
  ['0000', 'raises'],
  ['0001', 'raises'],
  ['0010', 'raises'],
  ['0011', 'raises'],
];
const inputOf = (bits: string): StreamOutcomeInput => ({
  sawTerminalSentinel: bits[0] === '1',
  payloadSelfDelimiting: bits[1] === '1',
  payloadIntegrityOk: bits[2] === '1',
  discoverySticky: bits[3] === '1',
});

test('classifyStreamOutcome reproduces the truth table of the source document', () => {
  assert.equal(new Set(TRUTH.map(([bits]) => bits)).size, 16);
  for (const [bits, outcome] of TRUTH) {
    if (outcome !== 'raises') {
      assert.equal(classifyStreamOutcome(inputOf(bits)), outcome, bits);
      continue;
    }
    assert.throws(
      () => classifyStreamOutcome({ ...inputOf(bits), cut: 'mid', bytes: 512 }),
      (error) => {
        assert.ok(error instanceof StreamCompletionAmbiguousError && error instanceof Error);
        assert.deepEqual(
          [error.name, error.retryable, error.cut, error.bytes],
          ['StreamCompletionAmbiguousError', false, 'mid', 512],
        );
        assert.equal(error.discoverySticky, bits[3] === '1');
        assert.match(error.message, /512 bytes.*without a terminal message/);
        return true;
      },
    );
  }
});

/** Ways in which a payload is self-delimiting, and says whether it is whole. */
const PROOFS: readonly (readonly [ok: Fields, notOk: Fields, contract?: Fields])[] = [
  [
    { content_type: 'application/json', json: 'complete' },
    { content_type: 'application/json', json: 'cut' },
  ],
  [
    { content_type: 'application/problem+json', json: 'complete' },
    { content_type: 'application/json', json: 'malformed' },
  ],
  [
    { content_type: undefined, json: 'complete' },
    { content_type: undefined, json: 'empty' },
  ],
  [
    { self_delimiting: true, integrity_ok: true },
    { self_delimiting: true, integrity_ok: false },
  ],
  [{ integrity_ok: true }, { integrity_ok: false }, { self_delimiting: true }],
];

holds(
  'the full classifier says what classifyStreamOutcome says, on an orderly end by the peer without a mandated sentinel',
  300,
  [
    fc.constantFrom(...TRUTH),
    fc.nat(PROOFS.length - 1),
    fc.constantFrom('none', 'boundary', 'mid', undefined),
    fc.record({ bytes: fc.nat(10_000), framing: fc.constantFrom('chunked', 'close_delimited', 'h2', undefined) }),
    fc.constantFrom('optional', null, undefined),
  ],
  ([bits, outcome], way, cut, more, sentinel) => {
    const { sawTerminalSentinel, payloadSelfDelimiting, payloadIntegrityOk, discoverySticky } = inputOf(bits);
    const [ok, notOk, contract] = PROOFS[way] as (typeof PROOFS)[number];
    const proof = payloadSelfDelimiting ? (payloadIntegrityOk ? ok : notOk) : { integrity_ok: payloadIntegrityOk };
    const run = runLines([
      discovery(-1, { ...(payloadSelfDelimiting ? contract : {}), sticky: discoverySticky, sentinel }),
      close('x', 0, { ...more, cut, terminal: sawTerminalSentinel, ...proof }),
    ]);
    assert.equal(run.verdict('x').outcome, outcome === 'raises' ? 'ambiguous' : outcome);
    assert.equal(run.findings('ambiguous_close').length, outcome === 'raises' ? 1 : 0);
  },
);
