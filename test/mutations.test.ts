/** A million broken lines: each is accepted or rejected for a reason of the closed list, and none can make the sidecar fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REJECTIONS } from '../src/core/model/event.ts';
import { EVENT_TYPES, FIELDS, type FieldSpec, fieldsOf, MAX_ID_BYTES } from '../src/core/model/fields.ts';
import { createPipeline } from '../src/core/pipeline.ts';
import { decode, isRejection } from '../src/core/stages/decode.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { ORIGIN, sampleSum } from './support/build-event.ts';
import { parseExposition, sumOf } from './support/exposition.ts';
import { mutant, validLine } from './support/mutate.ts';
import { SEED } from './support/property.ts';
import { dice } from './support/random.ts';

const MUTANTS = 1_000_000;
const PIPED = 50_000;

/** Is a value what its field declares? Written again here, so that the decoder is not its own judge. */
function fits(value: unknown, { is, of }: FieldSpec): boolean {
  if (value === undefined || value === null) return true;
  if (typeof is !== 'string') return is.includes(value as string);
  if (is === 'id') return typeof value === 'string' && Buffer.byteLength(value) <= MAX_ID_BYTES;
  if (is === 'word' || is === 'text') return typeof value === 'string' && value.length <= (is === 'word' ? 128 : 2048);
  if (is === 'bool') return typeof value === 'boolean';
  if (is === 'object')
    return Object.entries(value).every(([name, part]) => of?.[name] !== undefined && fits(part, of[name]));
  if (is === 'int') return Number.isSafeInteger(value);
  if (is === 'count') return Number.isSafeInteger(value) && (value as number) >= 0;
  return Number.isFinite(value) && (value as number) >= 0;
}

test('decode: valid lines of every type are accepted', () => {
  const roll = dice(SEED);
  const seen = new Set<string>();
  for (let i = 0; i < 20_000; i++) {
    const line = validLine(roll);
    const event = decode(JSON.stringify(line), ORIGIN, i, 0);
    assert.ok(!isRejection(event), `${JSON.stringify(event)} of ${JSON.stringify(line)}`);
    seen.add(event.type);
  }
  assert.equal(seen.size, Object.keys(EVENT_TYPES).length);
});

test(`decode: ${MUTANTS} mutations, none throws, each has one outcome (seed ${SEED})`, () => {
  const roll = dice(SEED);
  const valid = Array.from({ length: 2000 }, () => validLine(roll));
  const reasons = new Map<string, number>();
  let accepted = 0;
  for (let i = 0; i < MUTANTS; i++) {
    const text = mutant(valid, roll);
    const event = decode(text, ORIGIN, i, 0);
    if (isRejection(event)) {
      reasons.set(event.rejected, (reasons.get(event.rejected) ?? 0) + 1);
      continue;
    }
    accepted++;
    if (!(event.type in EVENT_TYPES) || !(event.ts >= 0 && event.ts <= 8.64e15)) assert.fail(`accepted: ${text}`);
    for (const name of EVENT_TYPES[event.type].required)
      if ((event.fields[name] ?? null) === null) assert.fail(`${name}: ${text}`);
    // Each tenth is looked at in full.
    if (i % 10 === 0)
      for (const name of fieldsOf(event.type))
        if (!fits(event.fields[name], FIELDS[name])) assert.fail(`${name} is accepted: ${text}`);
  }
  const rejected = [...reasons.values()].reduce((a, b) => a + b, 0);
  assert.equal(accepted + rejected, MUTANTS);
  for (const reason of reasons.keys()) assert.ok((REJECTIONS as readonly string[]).includes(reason), reason);
  assert.ok(
    accepted > MUTANTS / 20 && rejected > MUTANTS / 20,
    `${accepted} accepted: the mutations are too weak or too strong`,
  );
  // The others need a file, a wall clock, a source that repeats itself, or OTLP.
  const elsewhere = ['future_ts', 'oversize', 'incomplete', 'duplicate'];
  elsewhere.push('not_protobuf', 'not_mcp', 'not_client', 'not_event');
  for (const reason of REJECTIONS.filter((each) => !elsewhere.includes(each)))
    assert.ok((reasons.get(reason) ?? 0) > 0, `no mutation was rejected as ${reason}`);
});

test(`pipeline: ${PIPED} mutations among good lines, none throws, every line is counted once (seed ${SEED})`, async () => {
  const roll = dice(SEED + 1);
  const valid = Array.from({ length: 2000 }, () => validLine(roll));
  const pipeline = createPipeline();
  let uncounted = 0;
  for (let i = 0; i < PIPED; i++) {
    const text = roll.chance(0.8) ? mutant(valid, roll) : JSON.stringify(roll.pick(valid));
    const ts = pipeline.line(text, ORIGIN, i, 0);
    // Segment lines are accepted and, by contract, not counted as events.
    if (typeof ts === 'number' && ['segment', 'end'].includes((JSON.parse(text) as { type: string }).type)) uncounted++;
    if (i % 100 === 0 && typeof ts === 'number') pipeline.tick(Math.min(ts, 1_790_001_000_000));
  }
  pipeline.finish();
  pipeline.refresh();
  const sum = (name: string) => sampleSum(pipeline.cells.families(), name);
  assert.equal(sum('tailfin_events_total') + sum('tailfin_events_rejected_total') + uncounted, PIPED);
  const text = await createPrometheusExporter(pipeline.cells, { process: false }).render();
  const samples = parseExposition(text);
  assert.equal(sumOf(samples, 'tailfin_events_total'), sum('tailfin_events_total'));
  for (const { name, value, labels } of samples)
    assert.ok(
      Number.isFinite(value) && (value >= 0 || name.includes('regime')),
      `${name} ${JSON.stringify(labels)} is ${value}`,
    );
});
