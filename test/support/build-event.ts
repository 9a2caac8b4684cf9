/**
 * Event lines as a writer would send them, and what the pipeline makes of them. Times are milliseconds after `T0`; every field
 * can be overridden, and `undefined` takes a default away (a field that is omitted is unknown).
 */
import assert from 'node:assert/strict';
import type { Family } from '../../src/core/measures/cells.ts';
import type { Origin } from '../../src/core/model/event.ts';
import type { Fact, FindingFact, VerdictFact } from '../../src/core/model/facts.ts';
import type { OperationFact } from '../../src/core/model/operation.ts';
import { DEFAULT_POLICY, type Policy, type ServerPolicy } from '../../src/core/model/policy.ts';
import { DEFAULT_THRESHOLDS } from '../../src/core/model/thresholds.ts';
import type { Verdict } from '../../src/core/model/verdict.ts';
import { createPipeline, type Pipeline, type PipelineOptions } from '../../src/core/pipeline.ts';
import { decode, isRejection } from '../../src/core/stages/decode.ts';
import { plainCopy } from '../../src/core/stages/held-names.ts';
import { restartInto } from './restart.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Line = Fields & { readonly v: 1; readonly type: string; readonly ts: number };

export const T0 = 1_790_000_000_000;
export const ORIGIN: Origin = { source: 'files', writer: 'files:events', host: 'host' };
export const ENDPOINTS = ['http://10.0.0.1:8080/mcp', 'http://10.0.0.2:8080/mcp'] as const;

const line = (type: string, at: number, ...fields: readonly Fields[]): Line =>
  Object.assign({ v: 1 as const, type, ts: T0 + at }, ...fields);

const CALL = { client: 'c1', server: 'srv', method: 'tools/call', target: 'tool', args_digest: 'a' };
const REQUEST = { ...CALL, endpoint: ENDPOINTS[0], protocol_version: '2025-11-25', rpc_id: '1' };
const HEAD = { status: 200, content_type: 'text/event-stream', framing: 'chunked' };
const END = { how: 'eof', by: 'peer', bytes: 100, events: 1, cut: 'boundary', sent: 'body' };

export const open = (exchange: string, at: number, fields: Fields = {}): Line =>
  line('open', at, { exchange }, REQUEST, fields);
export const headers = (exchange: string, at: number, fields: Fields = {}): Line =>
  line('headers', at, { exchange }, HEAD, fields);
export const message = (exchange: string, at: number, fields: Fields = {}): Line =>
  line('message', at, { exchange, rpc: 'result', id_match: 'match' }, fields);
/** An SSE answer to a tools/call that ended at an event boundary without its terminal message: row 13. */
export const close = (exchange: string, at: number, fields: Fields = {}): Line =>
  line('close', at, { exchange }, REQUEST, HEAD, END, fields);
/** The end of an exchange whose other lines told the rest. */
export const end = (exchange: string, at: number, fields: Fields = {}): Line =>
  line('close', at, { exchange }, END, fields);
export const parse = (exchange: string | undefined, at: number, fields: Fields = {}): Line =>
  line('parse', at, { exchange, client: 'c1', server: 'srv', of: 'result', ok: true, bytes: 100 }, fields);
export const settle = (exchange: string | undefined, at: number, result: string, fields: Fields = {}): Line =>
  line('settle', at, { exchange, client: 'c1', server: 'srv', result }, fields);
export const discovery = (at: number, fields: Fields = {}): Line =>
  line('discovery', at, { server: 'srv', protocol_version: '2025-11-25' }, fields);
export const client = (event: string, at: number, fields: Fields = {}): Line =>
  line('client', at, { client: 'c1', server: 'srv', event }, fields);
export const gap = (at: number, dropped: number, fields: Fields = {}): Line => line('gap', at, { dropped }, fields);

/** Fields of the usual ends, to be spread into a line. */
export const ANSWERED = { terminal: true, terminal_kind: 'result', id_match: 'match' } as const;
export const JSON_BODY = { content_type: 'application/json', events: undefined, json: 'complete' } as const;
export const JSON_CUT = { ...JSON_BODY, json: 'cut', cut: 'mid' } as const;
export const RESET = { how: 'error', error: 'ECONNRESET' } as const;
/** Takes the response head away. */
export const NO_HEAD = {
  ...{ status: undefined, content_type: undefined, framing: undefined, bytes: undefined, events: undefined },
  ...{ cut: undefined, how: 'no_response', error: 'ECONNRESET' },
} as const;

/** A policy as configuration would make it, from plain data. */
export function policyOf(
  servers: Readonly<Record<string, Partial<Omit<ServerPolicy, 'name'>>>>,
  cutMid: Policy['cutMid'] = 'ambiguous',
): Policy {
  const all = Object.entries(servers).map(([name, rest]) => ({ isReadOnlyTool: () => false, ...rest, name }));
  return {
    cutMid,
    thresholds: DEFAULT_THRESHOLDS,
    servers: all,
    server: (name) => all.find((each) => each.name === name),
  };
}

/** The sum of the samples of a metric that carry these labels. Histograms count their observations. */
export function sampleSum(families: Iterable<Family>, name: string, labels: Fields = {}): number {
  let sum = 0;
  let known = false;
  for (const { spec, cells } of families) {
    if (spec.name !== name) continue;
    known = true;
    const wanted = Object.entries(labels).map(([label, value]) => {
      const at = spec.labels.findIndex(([each]) => each === label);
      assert.ok(at >= 0, `${name} has no label ${label}`);
      return [at, value] as const;
    });
    for (const { value, values, buckets } of cells)
      if (wanted.every(([at, label]) => values[at] === label))
        sum += buckets === null ? value : buckets.reduce((a, b) => a + b, 0);
  }
  assert.ok(known, `no metric ${name}`);
  return sum;
}

export interface RunOptions {
  readonly policy?: Policy;
  /** Events between two ticks: 1 as in a replay, 0: none before the end. */
  readonly tickEach?: number;
  /** Event time between two ticks instead. */
  readonly tickMs?: number;
  /** Before which lines everything goes through a checkpoint into a new pipeline. */
  readonly restartAt?: (at: number) => boolean;
  /** Called with each fact while it is valid. */
  readonly onFact?: PipelineOptions['onFact'];
  /** false: the windows stay open. */
  readonly finish?: boolean;
}

export interface Run {
  readonly pipeline: Pipeline;
  readonly facts: readonly Fact[];
  readonly operations: readonly OperationFact[];
  /** Verdict facts that hold one. */
  readonly verdicts: readonly (VerdictFact & { readonly verdict: Verdict })[];
  /** The one verdict of an exchange. */
  verdict(exchange: string): Verdict;
  /** The one operation that an exchange is an attempt of. */
  operation(exchange: string): OperationFact;
  findings(rule?: string): readonly FindingFact[];
  samples(name: string, labels?: Fields): number;
}

const only = <T>(found: readonly T[], what: string): T => {
  assert.equal(found.length, 1, `${found.length} ${what}`);
  return found[0] as T;
};

/** Facts are of the moment: what they point at is used again. */
function keep(fact: Fact): Fact {
  if (fact.is === 'verdict') return { ...fact, exchange: { ...fact.exchange } };
  if (fact.is !== 'operation') return { ...fact };
  const attempts = fact.operation.attempts.map(plainCopy);
  const edges = fact.edges.map((edge) => ({ ...edge, from: plainCopy(edge.from), to: plainCopy(edge.to) }));
  return { ...fact, edges, operation: { ...plainCopy(fact.operation), attempts } };
}

/** Lines (text or objects) through a pipeline of its own, in the given order; at the end every window closes. */
export function runLines(lines: readonly (Line | string)[], options: RunOptions = {}): Run {
  const { policy = DEFAULT_POLICY, tickEach = 1, tickMs, finish = true, restartAt = () => false, onFact } = options;
  const facts: Fact[] = [];
  const note = (fact: Fact, cause: Fact | null): void => {
    onFact?.(fact, cause);
    facts.push(keep(fact));
  };
  const create = () => createPipeline({ policy, onFact: note });
  let pipeline = create();
  let newest = Number.NEGATIVE_INFINITY;
  let tickedAt = Number.NEGATIVE_INFINITY;
  let since = 0;
  for (const [at, each] of lines.entries()) {
    if (restartAt(at)) pipeline = restartInto(pipeline, create());
    const event = decode(typeof each === 'string' ? each : JSON.stringify(each), ORIGIN, at + 1, 0);
    if (isRejection(event)) {
      pipeline.reject(event.rejected, ORIGIN);
      continue;
    }
    newest = Math.max(newest, event.ts);
    since++;
    if (tickMs === undefined ? since === tickEach : newest - tickedAt >= tickMs) {
      pipeline.tick(newest);
      tickedAt = newest;
      since = 0;
    }
    pipeline.accept(event);
  }
  if (finish) pipeline.finish();
  pipeline.refresh();
  const verdicts = facts.flatMap((fact) =>
    fact.is === 'verdict' && fact.verdict !== null ? [{ ...fact, verdict: fact.verdict }] : [],
  );
  const operations = facts.filter((fact) => fact.is === 'operation');
  return {
    pipeline,
    facts,
    operations,
    verdicts,
    verdict: (exchange) =>
      only(
        verdicts.filter((fact) => fact.exchange.id === exchange),
        `verdicts of ${exchange}`,
      ).verdict,
    operation: (exchange) =>
      only(
        operations.filter(({ operation }) => operation.attempts.some((attempt) => attempt.exchange === exchange)),
        `operations of ${exchange}`,
      ),
    findings: (rule) =>
      facts.filter((fact) => fact.is === 'finding' && (rule === undefined || fact.rule === rule)) as FindingFact[],
    samples: (name, labels) => sampleSum(pipeline.cells.families(), name, labels),
  };
}
