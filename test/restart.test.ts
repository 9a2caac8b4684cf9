/**
 * A restart changes nothing: whatever the traffic, a pipeline that is written down and read back before every single line states the
 * same facts in the same order and ends in the same exposition as one that was never interrupted. State that is kept outside of
 * core/state.ts fails here.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { loadConfig, toPolicy } from '../src/app/config.ts';
import { DEFAULT_POLICY } from '../src/core/model/policy.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { casesIn } from './check-cases.mjs';
import { type Line, policyOf, type RunOptions, runLines } from './support/build-event.ts';
import { hostile } from './support/hostile.ts';
import { holds, SEED } from './support/property.ts';
import { said } from './support/said.ts';
import { render } from './support/traffic.ts';
import { plans } from './support/traffic-plan.ts';

async function run(lines: readonly (Line | string)[], options: RunOptions): Promise<readonly [string[], string]> {
  const facts: string[] = [];
  const { pipeline } = runLines(lines, { ...options, onFact: (fact) => facts.push(said(fact)) });
  return [facts, await createPrometheusExporter(pipeline.cells, { process: false }).render('openmetrics')];
}

async function assertSame(lines: readonly (Line | string)[], options: RunOptions, restartAt: (at: number) => boolean) {
  const [facts, text] = await run(lines, options);
  const [cutFacts, cutText] = await run(lines, { ...options, restartAt });
  const differs = facts.findIndex((fact, i) => fact !== cutFacts[i]);
  if (differs !== -1) assert.equal(cutFacts[differs], facts[differs], `fact ${differs}`);
  assert.equal(cutFacts.length, facts.length);
  if (cutText !== text) assert.deepEqual(cutText.split('\n'), text.split('\n'));
}

const everywhere = () => true;
const POLICIES = [
  DEFAULT_POLICY,
  policyOf({
    srv: { endpoints: 'instance', selfDelimiting: true, isReadOnlyTool: (tool) => tool === 'tool' },
    other: { sentinel: 'mandated' },
  }),
];

holds(
  'a restart before every line changes neither facts nor numbers',
  120,
  [plans('any', 10), fc.constantFrom(...POLICIES), fc.constantFrom(1, 3, 0)],
  (plan, policy, tickEach) => assertSame(render(plan, { loose: true }).lines, { policy, tickEach }, everywhere),
);

holds(
  'nor does one at any single line of longer traffic',
  60,
  [plans('any'), fc.array(fc.nat(), { minLength: 1, maxLength: 4 })],
  (plan, places) => {
    const { lines } = render(plan, { loose: true });
    const at = new Set(places.map((place) => place % (lines.length + 1)));
    return assertSame(lines, {}, (i) => at.has(i));
  },
);

const SCENARIOS = fileURLToPath(new URL('scenarios', import.meta.url));
for (const scenario of casesIn(SCENARIOS))
  test(`scenario ${basename(scenario)}: a restart before every line`, async () => {
    const file = join(scenario, 'tailfin.yaml');
    const policy = toPolicy(loadConfig(existsSync(file) ? { file } : {}));
    const lines = readFileSync(join(scenario, 'events.ndjson'), 'utf8').split('\n').filter(Boolean);
    // Most of a long scenario says the same again.
    const step = Math.ceil(lines.length / 150);
    await assertSame(lines, { policy }, (at) => at % step === 0);
  });

test('stores at their caps', async () => {
  const lines: Line[] = [];
  for (const line of hostile(SEED, 12_000).lines) lines.push(line as Line);
  await assertSame(lines, { tickEach: 500 }, (at) => at % 10_000 === 9_999);
});
