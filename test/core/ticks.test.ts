/**
 * What is due by the clock of a line counts as done, though no tick has said so yet: the live run ticks once per slice of a file,
 * which may span hours of quiet traffic, and must come to what a replay comes to. (The property of the same name finds more.)
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ANSWERED,
  client,
  close,
  discovery,
  end,
  JSON_BODY,
  type Line,
  open,
  parse,
  RESET,
  type Run,
  runLines,
  settle,
} from '../support/build-event.ts';

const PRIMED = { event_ids: 1 } as const;
const GET = {
  http_method: 'GET',
  rpc_kind: 'none',
  method: undefined,
  rpc_id: undefined,
  last_event_id: true,
} as const;
const again = (at: number, fields = {}): Line => close('y', at, { ...ANSWERED, ...fields });

const CASES: Readonly<Record<string, readonly Line[]>> = {
  'an operation counted 600 s after its caller left, closed later': [
    open('x', 0),
    settle('x', 0, 'timeout'),
    end('x', 600_001, ANSWERED),
  ],
  'the same, told cancelled': [open('x', 0), settle('x', 0, 'cancelled'), end('x', 600_001, ANSWERED)],
  'counted when its caller left, expired later': [
    open('x', 0),
    settle('x', 0, 'timeout'),
    again(900_001, { args_digest: 'b' }),
  ],
  'a parse line for a failed attempt, after the operation was counted': [
    close('x', 0),
    again(59_999),
    parse('x', 90_000),
  ],
  'a parse line for a delivered attempt, too late': [close('x', 0, ANSWERED), parse('x', 30_001, { ok: false })],
  'a settle line for a failed attempt, too late': [close('x', 0), settle('x', 600_001, 'ok')],
  'a retry after the wait for a resume was over': [close('x', 0, { ...RESET, ...PRIMED }), again(60_001)],
  'the same, on a replaced client': [
    close('x', 0, { ...RESET, ...PRIMED }),
    client('reconnected', 60_001),
    again(60_001, { client: 'c2' }),
  ],
  'the same, of an unknown client': [close('x', 0, { ...RESET, ...PRIMED }), again(60_001, { client: undefined })],
  'the same, on a replaced client, told cancelled before its one line': [
    close('x', 0, { ...RESET, ...PRIMED }),
    client('reconnected', 60_000),
    settle('y', 60_000, 'cancelled', { client: 'c2' }),
    again(60_001, { client: 'c2' }),
  ],
  'a payload line after the wait for a resume was over': [
    close('x', 0, { ...RESET, ...PRIMED }),
    open('g', 0, GET),
    end('g', 700),
    again(59_999),
    parse('y', 90_000, { ok: false }),
  ],
  'a resume that came too late': [close('x', 0, PRIMED), open('g', 60_001, GET), end('g', 60_500, ANSWERED)],
  'lines that waited too long for their exchange, and one that did not': [
    settle('x', 0, 'ok'),
    parse('x', 30_001),
    close('x', 30_002, JSON_BODY),
  ],
  'a line for an exchange that had expired': [open('x', 0), end('x', 900_001, ANSWERED)],
  'a contract that was announced in between': [
    open('x', 0),
    discovery(5, { sentinel: 'mandated' }),
    end('x', 10),
    close('y', 20, { args_digest: 'b' }),
  ],
};

/** All that is told of operations, verdicts, trends and what-ifs, in an order of its own. */
const told = ({ facts }: Run): string[] =>
  facts
    .flatMap((fact) => {
      switch (fact.is) {
        case 'operation':
          return [
            `operation ${fact.result} ${fact.nextAction} ${fact.operation.attempts.map(({ exchange }) => exchange)} ` +
              fact.edges.map(({ after, outcome }) => `${after} ${outcome}`).join(),
          ];
        case 'verdict':
          return [`verdict ${fact.exchange.id} ${fact.verdict?.cause}`];
        case 'trend':
          return [`trend ${fact.exchange} ${fact.failed} ${fact.length}`];
        case 'what_if':
        case 'expired':
          return [`${fact.is} ${fact.is === 'what_if' ? fact.result : fact.reason}`];
        default:
          return [];
      }
    })
    .sort();

for (const [name, lines] of Object.entries(CASES))
  test(`without a tick in between: ${name}`, () => {
    assert.deepEqual(told(runLines(lines, { tickEach: 0 })), told(runLines(lines)));
  });
