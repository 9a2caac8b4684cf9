/** Evidence records from facts: what gets one, what it says, and that nothing leaves but what the allow-list names. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Fact } from '../../src/core/model/facts.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { evidenceOf, subjectOf } from '../../src/exporters/evidence.ts';
import { redact } from '../../src/exporters/evidence-fields.ts';
import {
  ANSWERED,
  close,
  ENDPOINTS,
  type Fields,
  type Line,
  NO_HEAD,
  ORIGIN,
  parse,
  RESET,
  settle,
} from '../support/build-event.ts';
import { SCENARIOS } from '../support/cli.ts';
import { holds } from '../support/property.ts';

type Record_ = Readonly<Record<string, unknown>>;

/** The records of these lines, built while the facts are delivered, and the facts that must have one. */
function recordsOf(lines: readonly (Line | string)[], file?: string): { records: Record_[]; due: string[] } {
  const records: Record_[] = [];
  const due: string[] = [];
  const onFact = (fact: Fact, cause: Fact | null): void => {
    if (fact.is === 'verdict' && fact.verdict !== null && fact.verdict.outcome !== 'clean') due.push(fact.is);
    if (fact.is === 'operation' && fact.result !== 'first_try') due.push(fact.is);
    if (fact.is === 'finding') due.push(fact.is);
    if (subjectOf(fact) !== null) records.push(JSON.parse(JSON.stringify(evidenceOf(fact, cause))) as Record_);
  };
  const pipeline = createPipeline({ onFact });
  const origin = file === undefined ? ORIGIN : { ...ORIGIN, file };
  for (const [at, line] of lines.entries())
    pipeline.line(typeof line === 'string' ? line : JSON.stringify(line), origin, at + 1, 0);
  pipeline.finish();
  return { records, due };
}

const only = (records: readonly Record_[], record: string): Record_ => {
  const found = records.filter((each) => each.record === record);
  assert.equal(found.length, 1, JSON.stringify(records));
  return found[0] as Record_;
};

describe('what gets a record', () => {
  test('every scenario: each abandoned or ambiguous exchange, each operation but first tries, each finding', () => {
    const seen = new Set<string>();
    for (const name of readdirSync(SCENARIOS)) {
      const lines = readFileSync(join(SCENARIOS, name, 'events.ndjson'), 'utf8')
        .split('\n')
        .filter(Boolean);
      const { records, due } = recordsOf(lines);
      assert.deepEqual(
        records.map(({ record }) => record),
        due,
        name,
      );
      for (const { record, rule, ts } of records) {
        seen.add(`${record} ${rule ?? ''}`);
        assert.match(String(ts), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, name);
      }
    }
    const rules = [...seen].filter((each) => each.startsWith('finding'));
    assert.ok(rules.length >= 5, rules.join());
  });

  test('a call that worked at once, and one that was refused, have none', () => {
    assert.deepEqual(recordsOf([close('a', 0, ANSWERED)]).records, []);
    const refused = recordsOf([close('a', 0, { status: 401, content_type: undefined })]).records;
    assert.deepEqual(
      refused.map(({ record, result, next_action }) => [record, result, next_action]),
      [['operation', 'surfaced', 'send_normally']],
    );
  });
});

describe('what a record says', () => {
  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { records } = recordsOf(
    [
      close('a1', 0, { ...RESET, trace: TRACE, open_ts: close('', -40).ts, bytes: 10, cut: 'mid' }),
      close('a2', 100, { ...ANSWERED, endpoint: ENDPOINTS[1], open_ts: close('', 60).ts }),
    ],
    '/var/run/tailfin/events/host-1.ndjson',
  );

  test('an exchange: where, what, which line, and that no complete result arrived', () => {
    assert.deepEqual(only(records, 'verdict'), {
      ...{ record: 'verdict', ts: '2026-09-21T14:13:20.000Z', server: 'srv', protocol_version: '2025-11-25' },
      ...{ method: 'tools/call', target: 'tool', exchange: 'a1', endpoint: '10.0.0.1:8080', stream: 'response' },
      ...{ outcome: 'abandoned', cause: 'transport_error', regime: 'C', cut: 'mid', stage: 'mid_event', by: 'peer' },
      ...{ request: 'sent', status: 200, error: 'ECONNRESET', bytes: 10, complete_result: 'no' },
      ...{ trace_id: '0af7651916cd43dd8448eb211c80319c', source: 'files', file: 'host-1.ndjson', line: 1 },
    });
  });

  test('an operation: its attempts, its edges, what is next', () => {
    const operation = only(records, 'operation');
    const { attempts, edges, ...rest } = operation;
    assert.deepEqual(rest, {
      ...{ record: 'operation', ts: '2026-09-21T14:13:20.100Z', server: 'srv', protocol_version: '2025-11-25' },
      ...{
        method: 'tools/call',
        target: 'tool',
        result: 'masked_rotated',
        next_action: 'confirm_outcome',
        hint: 'none',
      },
      ...{ exchange: 'a2', endpoints: ['10.0.0.1:8080', '10.0.0.2:8080'], complete_result: 'yes', duration_ms: 140 },
      ...{ attempt_count: 2, trace_id: '0af7651916cd43dd8448eb211c80319c' },
      ...{ source: 'files', file: 'host-1.ndjson', line: 2 },
    });
    assert.deepEqual(edges, [{ after: 'abandoned', endpoint: 'rotated', outcome: 'delivered', safety: 'unsafe' }]);
    assert.deepEqual(attempts, [
      {
        ...{ exchange: 'a1', endpoint: '10.0.0.1:8080', class: 'abandoned', outcome: 'abandoned' },
        ...{
          cause: 'transport_error',
          stage: 'mid_event',
          status: 200,
          is_error: false,
          complete_result: 'no',
          ms: 40,
        },
      },
      {
        ...{ exchange: 'a2', endpoint: '10.0.0.2:8080', class: 'delivered', outcome: 'clean', cause: 'terminal_seen' },
        ...{ status: 200, is_error: false, complete_result: 'yes', ms: 40 },
      },
    ]);
  });

  test('a finding: its rule, what decided, and what its exchange tells', () => {
    const found = records.find(({ rule }) => rule === 'uncertain_write');
    assert.deepEqual(found, {
      ...{ record: 'finding', ts: '2026-09-21T14:13:20.100Z', rule: 'uncertain_write', server: 'srv' },
      ...{ protocol_version: '2025-11-25', method: 'tools/call', target: 'tool', exchange: 'a2' },
      evidence: { result: 'masked_rotated', hint: 'none', attempts: 2, method: 'tools/call' },
      ...{ trace_id: '0af7651916cd43dd8448eb211c80319c', source: 'files', file: 'host-1.ndjson', line: 2 },
    });
  });

  test('complete_result: unknown where nothing proves either, yes where the caller failed on a whole answer', () => {
    const of = (lines: readonly Line[]) => only(recordsOf(lines).records, 'operation').complete_result;
    assert.equal(of([close('a', 0)]), 'unknown');
    assert.equal(of([close('a', 0, NO_HEAD)]), 'no');
    assert.equal(of([close('a', 0, ANSWERED), parse('a', 5, { ok: false, at_end: true })]), 'yes');
    assert.equal(of([close('a', 0, ANSWERED), settle('a', 5, 'error')]), 'yes');
  });

  test('a call repeated 100 times: counted, the first and the last attempts shown, the line stays small', () => {
    const id = (n: number): string => `${n}-${'"'.repeat(120)}`;
    const far = `http://${'h'.repeat(2000)}:1/mcp`;
    const lines = Array.from({ length: 100 }, (_, n) =>
      close(id(n), n, { ...RESET, endpoint: far, server: '\u0007'.repeat(128) }),
    );
    const operation = only(recordsOf(lines).records, 'operation');
    assert.equal(operation.attempt_count, 100);
    const shown = (operation.attempts as Record_[]).map(({ exchange }) => Number.parseInt(String(exchange), 10));
    assert.deepEqual(shown, [0, 1, 2, 3, 4, 95, 96, 97, 98, 99]);
    assert.equal(operation.server, '?'.repeat(128));
    assert.ok(String(operation.endpoints).length <= 128);
    assert.ok(JSON.stringify(operation).length < 12_000, String(JSON.stringify(operation).length));
  });
});

describe('what must not leave', () => {
  const target = (fields: Fields) => recordsOf([close('a', 0, fields)]).records.map((record) => record.target ?? null);

  test('a target is the name of a tool or a prompt; a resource URI, or anything with a scheme, is none', () => {
    assert.deepEqual([...new Set(target({ method: 'tools/call', target: 'get_price' }))], ['get_price']);
    assert.deepEqual([...new Set(target({ method: 'prompts/get', target: 'review code' }))], ['review code']);
    for (const [method, text] of [
      ['resources/read', 'file:///home/alice/secret.txt'],
      ['resources/read', 'plain-name'],
      ['resources/subscribe', 'db://users/1'],
      ['completion/complete', 'users'],
      ['tools/call', 'https://user:pw@host/x?token=1'],
      ['x/own', 'name'],
      [undefined, 'name'],
    ])
      assert.deepEqual([...new Set(target({ method, target: text }))], [null], `${method} ${text}`);
  });

  test('an error that is no code word is `other`', () => {
    const error = (text: string) =>
      only(recordsOf([close('a', 0, { ...RESET, error: text })]).records, 'verdict').error;
    assert.equal(error('UND_ERR_SOCKET'), 'UND_ERR_SOCKET');
    for (const text of ['read failed: token=abc', 'a/b', 'é', 'x'.repeat(65), 'a\nb', '{"a":1}'])
      assert.equal(error(text), 'other', text);
    // The same word goes through a detector.
    const late = recordsOf([close('a', 0, { ...ANSWERED, ...RESET, error: 'password is 1234' })]).records;
    assert.deepEqual(
      late.map(({ rule, evidence }) => [rule, (evidence as Record_).error]),
      [['late_error_after_terminal', 'other']],
    );
  });

  holds(
    'whatever stands in a record, only listed fields of bounded size come out',
    500,
    [
      fc.dictionary(
        fc.constantFrom(
          'key',
          'client',
          'args_digest',
          'target',
          'method',
          'error',
          'server',
          'attempts',
          'evidence',
          'ts',
          'trace_id',
          'file',
          'bytes',
          'payload',
        ),
        fc.jsonValue(),
      ),
    ],
    (record) => {
      const out = redact(record);
      for (const key of ['key', 'client', 'args_digest', 'payload']) assert.ok(!(key in out), key);
      for (const key of ['server', 'target', 'error', 'method', 'ts', 'trace_id', 'file'])
        if (key in out) assert.ok(typeof out[key] === 'string' && (out[key] as string).length <= 128, key);
      if ('bytes' in out) assert.ok(Number.isFinite(out.bytes));
    },
  );
});
