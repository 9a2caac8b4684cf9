/** Attempts written down as rows: what is read is what was written, and the fact of a row is what the rules say of the attempt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExchangeKey } from '../../src/core/model/exchange.ts';
import { hash53 } from '../../src/core/model/hash53.ts';
import type { Attempt } from '../../src/core/model/operation.ts';
import type { Verdict } from '../../src/core/model/verdict.ts';
import { IdBytes } from '../../src/core/scan/id-bytes.ts';
import { emptyAttempt } from '../../src/core/stages/attempt.ts';
import { FirstTry } from '../../src/core/stages/first-try.ts';
import { plainCopy } from '../../src/core/stages/held-names.ts';
import * as outcome from '../../src/core/stages/outcome.ts';
import { Quiet } from '../../src/core/stages/quiet.ts';
import { dice } from '../support/random.ts';

const SEED = Number(process.env.TEST_SEED ?? 20261129);
const keyOf = createExchangeKey('home');
const VERDICT: Verdict = {
  ...{ id: 0, outcome: 'clean', cause: 'terminal_seen', regime: 'A', cut: 'boundary', stage: null, by: 'peer' },
  ...{ request: 'sent', head: true, row: 1 },
};

/** A delivered attempt with anything in it that one may have. */
function delivered(n: number, { pick, chance, int }: ReturnType<typeof dice>): Attempt {
  const host = pick(['home', 'away']);
  const exchange = pick([`x${n}`, `é${n}`, 'y'.repeat(pick([64, 65, 128]) - 8) + String(n).padStart(8, '0')]);
  const closeTs = 1000 + n;
  const status = pick([null, 200, 204]);
  return Object.assign(emptyAttempt(), {
    ...{
      exchange,
      host,
      key: keyOf(host, exchange),
      server: pick(['s', 't']),
      version: '2025-11-25',
      verdict: VERDICT,
    },
    ...{ method: pick([null, 'tools/call', 'm']), target: pick([null, 't']), client: pick([null, 'c']), status },
    ...{ argsDigest: pick([null, 'a', 'ü', '']), requestKey: pick([null, null, 'k']), trace: pick([null, null, 'w']) },
    ...{ endpoint: pick([null, '10.0.0.1:80']), openTs: closeTs - int(50), openKnown: chance(0.9), closeTs },
    ...{ judgedTs: closeTs, bytes: int(1e9), fullLength: pick([null, 0, 77]), errorCode: pick([null, 0, -32602]) },
    ...{ terminal: chance(0.9), terminalKind: pick([null, 'result', 'error'] as const), isError: chance(0.3) },
    ...{ idMatch: pick([null, 'match', 'mismatch', 'null_id'] as const), inputResponses: chance(0.3) },
    ...{ notSent: chance(0.3), idempotent: chance(0.3), declaredSafe: chance(0.3), cutOrEmpty: chance(0.3) },
    ...(chance(0.1) ? { settled: 'ok' as const, settledTs: closeTs } : {}),
    ...(chance(0.1) ? { parsedOk: true, okBytes: { result: 5 } } : {}),
  });
}

test(`quiet: what comes out is what went in, in order, found or not (seed ${SEED})`, () => {
  const roll = dice(SEED);
  const quiet = new Quiet(keyOf, emptyAttempt);
  const inside: Attempt[] = [];
  let asRows = 0;
  const leave = (): void => {
    const before = inside.shift() as Attempt;
    assert.equal(quiet.oldestTs(), before.judgedTs);
    const gone = quiet.shift();
    if (typeof gone !== 'number') {
      assert.deepStrictEqual(plainCopy(gone), before);
      return;
    }
    asRows++;
    const fact = new FirstTry(quiet.rows, gone);
    const { operation } = fact;
    assert.deepStrictEqual(operation.attempts.map(plainCopy), [{ ...before, counted: true }]);
    const { server, version, method } = operation;
    assert.deepEqual([fact.server, fact.version, fact.method], [server, version, method]);
    assert.equal(fact.result, outcome.resultOf(operation, 'over'));
    assert.equal(fact.nextAction, outcome.nextActionOf(operation, fact.result));
    assert.equal(fact.hint, outcome.hintOf(operation));
    assert.equal(fact.errorType, outcome.errorTypeOf(operation, fact.result));
    assert.equal(fact.ts, before.closeTs);
    assert.equal(fact.durationMs, before.openKnown ? before.closeTs - before.openTs : null);
  };
  for (let n = 0; n < 20_000; n++) {
    const attempt = delivered(n, roll);
    inside.push(plainCopy(attempt));
    // Used again at once, as the pool does.
    if (quiet.push(attempt, hash53(attempt.key), new IdBytes())) Object.assign(attempt, plainCopy(emptyAttempt()));
    if (roll.chance(0.1)) {
      const wanted = roll.pick(inside);
      const found = quiet.find(wanted.key, hash53(wanted.key)) as Attempt;
      assert.deepStrictEqual(plainCopy(found), wanted);
      // It is an object from now on.
      found.bytes = ++wanted.bytes;
      assert.equal(quiet.find(`${wanted.key}?`, hash53(wanted.key)), undefined);
    }
    // Grows past its first size, then runs in a ring.
    if (inside.length > (n < 5000 ? 3000 : 2000)) leave();
    assert.equal(quiet.size(), inside.length);
  }
  while (inside.length > 0) leave();
  assert.ok(Number.isNaN(quiet.oldestTs()));
  assert.ok(asRows > 2000, `${asRows} rows`);
});
