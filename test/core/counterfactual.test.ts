/**
 * What is said to change a verdict does: each counterfactual of every case of the verdict table is made true in the lines of the
 * case, and the whole pipeline then gives the verdict that was stated.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_POLICY, type Policy } from '../../src/core/model/policy.ts';
import type { JudgedKind, Verdict } from '../../src/core/model/verdict.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { VERDICT_TABLE } from '../../src/core/stages/classify.ts';
import {
  ASKED,
  CHANGES,
  type ChangeName,
  type Counterfactual,
  counterfactuals,
} from '../../src/core/stages/counterfactual.ts';
import { factsOf, keptFacts } from '../../src/core/stages/stream-facts.ts';
import {
  ANSWERED,
  type Fields,
  JSON_BODY,
  type Line,
  ORIGIN,
  policyOf,
  RESET,
  runLines,
} from '../support/build-event.ts';
import { CASES, type Case, CLOSES, linesOfCase, resume } from '../support/verdict-cases.ts';

interface Edit {
  /** Fields of the closing line; undefined takes one away. */
  readonly fields?: Fields | ((x: Line) => Fields);
  readonly drop?: (line: Line) => boolean;
  readonly add?: readonly Line[];
  readonly sentinel?: 'mandated' | 'optional';
  readonly cutMid?: Policy['cutMid'];
}

const isAnswer = ({ type, rpc }: Line): boolean => type === 'message' && (rpc === 'result' || rpc === 'error');
const isLeg = ({ exchange }: Line): boolean => exchange === 'g';
/** What says, beside the closing line, that the client gave up. */
const isGivingUp = ({ type, event, cancel_of, result }: Line): boolean =>
  event === 'session_deleted' || cancel_of !== undefined || (type === 'settle' && result === 'timeout');
const PEER = { by: 'peer', error: undefined } as const;
const CONTENT = { status: 200, bytes: 100, cut: 'boundary' } as const;

/** Each change as a writer of lines would tell it. */
const EDITS: Readonly<Record<ChangeName, Edit>> = {
  answer: { fields: ANSWERED },
  no_answer: { fields: { terminal: false, terminal_kind: undefined, id_match: undefined }, drop: isAnswer },
  never_sent: { fields: { sent: 'none' } },
  sent: { fields: { sent: 'body' } },
  gave_up: { fields: { by: 'client', error: 'AbortError' } },
  stayed: {
    fields: ({ status }) => ({ ...PEER, how: status === undefined ? 'no_response' : 'eof' }),
    drop: isGivingUp,
  },
  client_ended: { fields: { how: 'cancel', by: 'client' } },
  server_cancelled: { fields: { cancelled: true } },
  not_cancelled: { fields: { cancelled: undefined } },
  payload_whole: {
    fields: ({ self_delimiting }) =>
      self_delimiting ? { integrity_ok: true } : { json: 'complete', bytes: 100, cut: 'boundary' },
  },
  payload_cut: {
    fields: ({ json }) => (json === undefined ? { integrity_ok: false } : { json: 'cut', integrity_ok: undefined }),
  },
  payload_malformed: { fields: { json: 'malformed' } },
  json: { fields: { ...CONTENT, ...JSON_BODY } },
  checked: { fields: { self_delimiting: true, integrity_ok: true } },
  mandated: { sentinel: 'mandated' },
  not_mandated: { sentinel: 'optional' },
  cut_mid_abandoned: { cutMid: 'abandoned' },
  cut_mid_ambiguous: { cutMid: 'ambiguous' },
  resumed: { drop: isLeg, add: [resume(CLOSES + 100)] },
  not_resumed: { drop: isLeg },
  resumable: { fields: { event_ids: 1, event_id_digest: 'e1' }, add: [resume(CLOSES + 100)] },
  no_event_ids: { fields: { event_ids: undefined, event_id_digest: undefined }, drop: ({ rpc }) => rpc === 'prime' },
  orderly: { fields: { how: 'eof', error: undefined } },
  broken: { fields: { ...RESET, by: 'peer' } },
  carrier_kept: { fields: { carrier: undefined } },
  event_stream: {
    fields: { ...CONTENT, ...PEER, how: 'eof', content_type: 'text/event-stream', json: undefined, carrier: undefined },
  },
};

interface Judged {
  readonly verdict: Verdict;
  readonly found: readonly Counterfactual[];
}

/** The verdict of `x` and what would have changed it, as the explain command asks. */
function judge(lines: readonly Line[], policy: Policy): Judged {
  let judged: Judged | undefined;
  const pipeline = createPipeline({
    policy,
    ownClock: true,
    onFact(fact) {
      if (fact.is !== 'verdict' || fact.exchange.id !== 'x' || fact.verdict === null) return;
      const facts = keptFacts(factsOf(fact.exchange, fact.kind as JudgedKind, policy.cutMid));
      judged = { verdict: fact.verdict, found: counterfactuals(facts, fact.verdict) };
    },
  });
  for (const [i, line] of lines.entries()) pipeline.line(JSON.stringify(line), ORIGIN, i + 1, 0);
  pipeline.finish();
  assert.ok(judged !== undefined);
  return judged;
}

function edited([, , x, more = [], policy]: Case, { fields = {}, drop, add = [], sentinel, cutMid }: Edit) {
  const close = linesOfCase(x, []).at(-1) as Line;
  const change = typeof fields === 'function' ? fields(close) : fields;
  const around = more.filter((line) => drop?.(line) !== true);
  const servers = sentinel === undefined ? {} : { srv: { ...policy?.server('srv'), sentinel } };
  const old = policy ?? DEFAULT_POLICY;
  return {
    lines: linesOfCase({ ...x, ...change }, [...around, ...add]),
    policy: sentinel === undefined ? { ...old, cutMid: cutMid ?? old.cutMid } : policyOf(servers, cutMid ?? old.cutMid),
  };
}

describe('counterfactuals come true in the lines', () => {
  const used = new Map<ChangeName, Set<number>>();
  const answered = new Set<number>();

  for (const each of CASES) {
    const [name, , x, more, policy = DEFAULT_POLICY] = each;
    const { verdict, found } = judge(linesOfCase(x, more), policy);
    for (const { change, decision } of found) {
      used.set(change, (used.get(change) ?? new Set()).add(verdict.row));
      answered.add(verdict.row);
      test(`${name}: ${change}`, () => {
        const { lines, policy: otherPolicy } = edited(each, EDITS[change]);
        const { outcome, cause, row } = runLines(lines, { policy: otherPolicy }).verdict('x');
        assert.deepEqual({ outcome, cause, row }, decision);
        assert.ok(outcome !== verdict.outcome || cause !== verdict.cause, 'it is another verdict');
      });
    }
  }

  test('every row has some, every change is used, and by every row that asks for it', () => {
    assert.deepEqual(
      [...answered].sort((a, b) => a - b),
      [...new Set(VERDICT_TABLE.map(({ row }) => row))],
    );
    const asked = Object.entries(ASKED).flatMap(([row, names]) => names.map((name) => `${row} ${name}`));
    const seen = [...used].flatMap(([name, rows]) => [...rows].map((row) => `${row} ${name}`));
    assert.deepEqual(
      asked.filter((each) => !seen.includes(each)),
      [],
    );
    assert.deepEqual(Object.keys(CHANGES).sort(), [...used.keys()].sort());
  });
});
