/** Healthy traffic, with all that is legal and odd, raises nothing: no finding, no ambiguous close. TEST_SEED makes another one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '../src/core/pipeline.ts';
import { ORIGIN, policyOf, sampleSum } from './support/build-event.ts';
import { healthy, READ_ONLY } from './support/healthy.ts';
import { SEED } from './support/property.ts';

test('100,000 healthy exchanges raise no finding and leave no doubt', () => {
  const { lines, exchanges } = healthy(SEED, 100_000);
  const found: string[] = [];
  const pipeline = createPipeline({
    ownClock: true,
    policy: policyOf(
      Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`s${n}`, { isReadOnlyTool: (tool) => tool === READ_ONLY }])),
    ),
    onFact(fact) {
      if (fact.is === 'finding' && found.length < 20)
        found.push(`${fact.rule} ${fact.server} ${fact.exchange} ${JSON.stringify(fact.evidence)}`);
    },
  });
  for (const [at, line] of lines.entries()) pipeline.line(JSON.stringify(line), ORIGIN, at + 1, 0);
  pipeline.finish();
  pipeline.refresh();
  const total = (name: string, labels = {}) => sampleSum(pipeline.cells.families(), name, labels);
  assert.deepEqual(found, [], `seed ${SEED}`);
  assert.equal(total('tailfin_findings_total'), 0);
  assert.equal(total('tailfin_stream_closes_total', { outcome: 'ambiguous' }), 0);
  // What it is made of: every oddity was there, and was told from a failure.
  assert.ok(exchanges >= 100_000);
  assert.equal(total('tailfin_events_rejected_total'), 0);
  assert.equal(total('tailfin_exchanges_expired_total'), 0);
  for (const result of ['surfaced', 'unproven', 'unresolved', 'masked', 'masked_rotated', 'masked_unknown'])
    assert.equal(total('tailfin_operations_total', { result }), 0, result);
  for (const [name, labels] of [
    ['tailfin_operations_total', { result: 'cancelled' }],
    ['tailfin_stream_closes_total', { cause: 'resumed' }],
    ['tailfin_stream_closes_total', { stream: 'standalone', cause: 'listen_ended' }],
    ['tailfin_stream_closes_total', { stream: 'listen', cause: 'listen_ended' }],
    ['tailfin_status_meaning_total', { meaning: 'stream_not_offered' }],
    ['tailfin_status_meaning_total', { meaning: 'header_mismatch' }],
    ['tailfin_status_meaning_total', { meaning: 'redirect' }],
    ['tailfin_status_meaning_total', { meaning: 'unauthorized' }],
    ['tailfin_parse_attempts_total', { result: 'ok' }],
  ] as const)
    assert.ok(total(name, labels) > 50, `${name} ${JSON.stringify(labels)}`);
});
