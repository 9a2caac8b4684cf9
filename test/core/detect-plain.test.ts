/** Plain calls go past most rules: with and without that short way the findings are the same, in the same order. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isPlain } from '../../src/core/detectors/detector.ts';
import { DETECTORS } from '../../src/core/detectors/index.ts';
import { createExchangeKey } from '../../src/core/model/exchange.ts';
import type { Fact, FindingFact } from '../../src/core/model/facts.ts';
import type { StoreName } from '../../src/core/model/limits.ts';
import { DEFAULT_POLICY } from '../../src/core/model/policy.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { BoundedMap, createStoreHealth } from '../../src/core/store.ts';
import {
  ANSWERED,
  client,
  close,
  type Fields,
  JSON_BODY,
  type Line,
  NO_HEAD,
  ORIGIN,
  open,
  RESET,
  settle,
} from '../support/build-event.ts';
import { SEED } from '../support/property.ts';
import { type Dice, dice } from '../support/random.ts';

/** Every rule that looks at a kind of fact is shown each of that kind. */
function askAll(emit: (finding: FindingFact) => void): (fact: Fact) => void {
  const health = createStoreHealth();
  const context = {
    ...{ health, policy: DEFAULT_POLICY, limits: DEFAULT_POLICY.thresholds, exchangeKey: createExchangeKey('host') },
    memory: <V extends { readonly ts: number }>(store: StoreName, cap: number) => new BoundedMap<V>(store, cap, health),
  };
  const all = DETECTORS.map((spec) => ({ on: new Set<string>(spec.on), detect: spec.create(context) }));
  return (fact) => {
    for (const { on, detect } of all) if (on.has(fact.is)) detect(fact, emit);
  };
}

/** What the pipeline found, what it finds when all are asked, and how many calls were plain. */
function both(lines: Iterable<string>): { found: FindingFact[]; expected: FindingFact[]; plain: number } {
  const found: FindingFact[] = [];
  const expected: FindingFact[] = [];
  let plain = 0;
  const ask = askAll((finding) => void expected.push(finding));
  const pipeline = createPipeline({
    home: 'host',
    ownClock: true,
    onFact(fact) {
      if (fact.is === 'finding') {
        found.push(fact);
        return;
      }
      if (fact.is === 'verdict' && isPlain(fact)) plain++;
      ask(fact);
    },
  });
  let n = 0;
  for (const line of lines) pipeline.line(line, ORIGIN, ++n, 0);
  pipeline.finish();
  return { found, expected, plain };
}

const byExchange = ({ rule, exchange, ts, evidence }: FindingFact) => ({ rule, exchange, ts, evidence });
const same = (name: string, { found, expected }: ReturnType<typeof both>): void =>
  assert.deepEqual(found.map(byExchange), expected.map(byExchange), name);

const scenarios = fileURLToPath(new URL('../scenarios', import.meta.url));

test('plain calls: the findings of each scenario are those of a table in which all are asked', () => {
  const names = readdirSync(scenarios, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const rules = new Set<string>();
  for (const { name } of names) {
    const files = readdirSync(`${scenarios}/${name}`).filter((file) => file.endsWith('.ndjson'));
    const result = both(files.flatMap((file) => readFileSync(`${scenarios}/${name}/${file}`, 'latin1').split('\n')));
    same(name, result);
    for (const { rule } of result.found) rules.add(rule);
  }
  assert.deepEqual([...rules].sort(), DETECTORS.map(({ rule }) => rule).sort(), 'each rule has a say');
});

const ODD: readonly Fields[] = [
  ...[RESET, {}, NO_HEAD, { how: 'cancel', by: 'client', error: 'AbortError' }, { status: 404, content_type: null }],
  ...[
    { ...ANSWERED, error_code: -32602, terminal_kind: 'error' },
    { ...ANSWERED, is_error: true },
  ],
  ...[
    { ...ANSWERED, session: true },
    { ...ANSWERED, meta_protocol_version: '2025-06-18' },
  ],
  ...[
    { ...ANSWERED, event_ids: 1 },
    { http_method: 'GET', rpc_kind: 'none', method: undefined, events: 0, bytes: 0 },
  ],
  ...[
    { ...ANSWERED, id_match: 'mismatch' },
    { ...ANSWERED, connection: { id: 'k', reused: true, idle_ms: 9000 } },
  ],
  { method: 'initialize', target: undefined, args_digest: undefined, ...ANSWERED, ...JSON_BODY, session_issued: true },
];

/** Few names, close together in time, so that calls meet: most of them plain. */
function* traffic({ pick, chance, int }: Dice, count: number): Generator<Line> {
  let at = 0;
  for (let n = 0; n < count; n++) {
    at += pick([1, 5, 40, 400, 4000, 31_000]);
    const who = { client: `c${int(3)}`, server: `s${int(2)}`, host: `h${int(2)}` };
    const version = pick(['2025-11-25', '2026-07-28']);
    const fields = {
      ...{ ...who, target: `t${int(2)}`, args_digest: `a${int(3)}`, rpc_id: `${int(4)}`, protocol_version: version },
      ...{ open_ts: 1_790_000_000_000 + at - pick([5, 900, 61_000]), endpoint: `http://10.0.0.${int(2)}:80/mcp` },
      ...(chance(0.1) ? { method: 'tools/list', target: undefined, args_digest: undefined } : {}),
      ...(chance(0.1) ? { list: { count: int(3), digest: `d${int(3)}`, auth: 'me' } } : {}),
    };
    if (chance(0.1)) yield open(`x${n}`, at, { ...fields, open_ts: undefined });
    if (chance(0.05)) yield settle(`x${n}`, at, pick(['timeout', 'cancelled', 'ok', 'error']), who);
    yield close(`x${n}`, at, { ...fields, ...(chance(0.75) ? ANSWERED : pick(ODD)) });
    if (chance(0.1)) yield settle(`x${n}`, at, pick(['timeout', 'cancelled', 'ok', 'error']), who);
    if (chance(0.1)) yield client(pick(['created', 'closed', 'reconnected', 'reinitialized']), at, who);
  }
}

test(`plain calls: the same in 400 random traces (seed ${SEED})`, () => {
  const rules = new Set<string>();
  let [calls, plain] = [0, 0];
  for (let i = 0; i < 400; i++) {
    const lines = [...traffic(dice(`${SEED} ${i}`), 150)];
    const result = both(lines.map((line) => JSON.stringify(line)));
    same(`trace ${i}`, result);
    for (const { rule } of result.found) rules.add(rule);
    calls += 150;
    plain += result.plain;
  }
  assert.ok(plain > calls / 5, `${plain} of ${calls} were plain`);
  assert.ok(rules.size >= 12, `${rules.size} rules fired: ${[...rules].sort().join(' ')}`);
});
