import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Findings } from '../src/demo/compare.ts';
import { drawFault, FAULTS, type Fault, type FaultPlan } from '../src/demo/faults.ts';
import { type Gateway, type GatewayEntry, startGateway, TRACE_HEADER } from '../src/demo/gateway.ts';
import { parseExposition } from '../src/demo/prom-text.ts';
import { renderReport, shortfalls } from '../src/demo/report.ts';
import { measureSignals } from '../src/demo/signals.ts';
import { type CheckedEntry, checkVerdicts, type VerdictRecord } from '../src/demo/verdict-check.ts';
import { until } from './support/until.ts';

const SEED = 1;
const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: 'x'.repeat(300_000) } });
const NOTE = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n';
const LAST =
  'event: message\ndata: {"result":{"content":[{"type":"text","text":"placed"}]},"jsonrpc":"2.0","id":1}\n\n';

let gateway: Gateway;
let upstreamHeaders: IncomingHttpHeaders = {};
let held: ServerResponse | undefined;
const upstream = createServer((req, res) => {
  upstreamHeaders = req.headers;
  req.resume();
  const kind = req.url?.slice(1);
  if (kind === 'silent') held = res.writeHead(200, { 'content-type': 'text/event-stream' });
  else if (kind === 'events') res.writeHead(200, { 'content-type': 'text/event-stream' }).write(NOTE);
  if (kind === 'silent') res.flushHeaders();
  else if (kind === 'events') res.end(LAST);
  else res.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length }).end(ANSWER);
});

before(async () => {
  await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready));
  gateway = await startGateway([(upstream.address() as AddressInfo).port], SEED);
});
after(() => {
  gateway.close();
  upstream.close();
  upstream.closeAllConnections();
});

const request = (n: number) => ({ method: 'tools/call', params: { name: 't', arguments: { n } } });

/** The first call that draws what the test needs. */
function callWith(wanted: (plan: FaultPlan) => boolean): number {
  for (let n = 0; ; n++) {
    const { method, params } = request(n);
    if (wanted(drawFault(SEED, `0 2026-07-28 ${method} ${params.name} ${JSON.stringify(params.arguments)}`))) return n;
  }
}

async function ask(
  kind: string,
  n: number,
  signal?: AbortSignal,
): Promise<{ text: string; error: string; entry: GatewayEntry }> {
  const trace = `${kind}-${n}`;
  const url = new URL(`/${kind}`, gateway.endpoints[0]);
  const headers = { [TRACE_HEADER]: trace, 'mcp-protocol-version': '2026-07-28' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request(n) });
  let text = '';
  let error = '';
  try {
    const response = await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) });
    for await (const part of response.body as AsyncIterable<Uint8Array>) text += Buffer.from(part);
  } catch (reason) {
    error = (reason as Error).name;
  }
  const entry = gateway.log.find((logged) => logged.trace === trace);
  assert.ok(entry);
  return { text, error, entry };
}

const jsonWith = (fault: Fault) =>
  callWith((plan) =>
    fault === 'pass' ? plan.jsonBytes > 400_000 : plan.jsonBytes < 200_000 && plan.jsonFault === fault,
  );

for (const fault of ['pass', 'cut_json', 'reset'] as const) {
  test(`JSON ${fault}: the host gets exactly the logged bytes`, async () => {
    const { text, error, entry } = await ask('json', jsonWith(fault));
    await until(() => entry.fullBytes === ANSWER.length, { what: 'the rest of the answer' });
    assert.equal(entry.fault, fault);
    assert.equal(entry.bytes, fault === 'pass' ? ANSWER.length : text.length);
    assert.ok(ANSWER.startsWith(text) && text.length > 0);
    assert.equal(error, fault === 'reset' ? 'TypeError' : '');
    assert.equal(upstreamHeaders[TRACE_HEADER], entry.trace, 'the trace goes on to the server');
  });
}

for (const fault of ['pass', 'cut_boundary', 'cut_mid_event', 'reset'] as const) {
  test(`event stream ${fault}: everything before the answer arrives`, async () => {
    const { text, error, entry } = await ask(
      'events',
      callWith(({ streamFault }) => streamFault === fault),
    );
    assert.equal(entry.fault, fault);
    assert.equal(error, fault === 'reset' ? 'TypeError' : '');
    if (fault === 'pass') assert.equal(text, NOTE + LAST);
    else if (fault === 'cut_mid_event') assert.match(text, /"result"[^\n]*$/);
    else assert.equal(text, NOTE);
    assert.equal(entry.bytes, text.length);
  });
}

test('a host that hangs up first is logged as such, and the server sees it', async () => {
  const abort = new AbortController();
  const asked = ask('silent', 1, abort.signal);
  await until(() => held !== undefined);
  abort.abort();
  const { entry, error } = await asked;
  assert.equal(error, 'AbortError');
  await until(() => entry.fault === 'client_left' && held?.destroyed === true);
});

test('the draw depends on seed and key alone, and long answers are hit more often', () => {
  assert.deepEqual(drawFault(7, 'a'), drawFault(7, 'a'));
  assert.notDeepEqual(drawFault(7, 'a'), drawFault(8, 'a'));
  const hit = (bytes: number) =>
    Array.from({ length: 2000 }, (_, n) => drawFault(1, `${n}`)).filter((p) => p.jsonBytes < bytes).length;
  assert.ok(hit(512 * 1024) > 10 * hit(16 * 1024));
});

const entry = (exchange: string, fault: Fault, more: Partial<GatewayEntry> = {}): CheckedEntry => ({
  exchange,
  trace: exchange,
  fault,
  endpoint: 'http://e',
  method: 'tools/call',
  tool: 't',
  call: exchange,
  json: true,
  answered: fault === 'pass',
  bytes: 5000,
  fullBytes: 9000,
  elapsedMs: 20,
  ...more,
});
const verdict = (exchange: string, outcome: string, cause: string, cut: string | null = null): VerdictRecord => ({
  record: 'verdict',
  exchange,
  method: 'tools/call',
  target: 't',
  outcome,
  cause,
  cut,
});

test('verdicts are compared in both directions, cause and cut included', () => {
  const log = [
    entry('1', 'pass'),
    entry('2', 'cut_boundary'),
    entry('3', 'cut_mid_event'),
    entry('4', 'reset'),
    entry('5', 'cut_json'),
  ];
  const right = [
    verdict('1', 'clean', 'terminal_seen'),
    verdict('2', 'ambiguous', 'no_evidence', 'boundary'),
    verdict('3', 'ambiguous', 'no_evidence', 'mid'),
    verdict('4', 'abandoned', 'transport_error', 'mid'),
    verdict('5', 'abandoned', 'cut_payload', 'mid'),
  ];
  assert.deepEqual(checkVerdicts(right, log), { compared: 5, preempted: 0, disagreements: [] });
  const wrong = [
    verdict('1', 'clean', 'integrity_ok'),
    verdict('2', 'ambiguous', 'no_evidence', 'mid'),
    ...right.slice(3),
    verdict('9', 'clean', 'terminal_seen'),
  ];
  assert.deepEqual(checkVerdicts(wrong, log).disagreements, [
    '1 t: gateway pass (clean, terminal_seen); Tailfin clean, integrity_ok, cut null',
    '2 t: gateway cut_boundary (ambiguous, no_evidence); Tailfin ambiguous, no_evidence, cut mid',
    '3 t: gateway cut_mid_event (ambiguous, no_evidence); Tailfin no verdict',
    "9 t: not in the gateway's log",
  ]);
  const gaveUp = [verdict('5', 'abandoned', 'client_timeout', 'mid')];
  assert.equal(checkVerdicts(gaveUp, [entry('5', 'cut_json')]).disagreements.length, 1);
  const slow = checkVerdicts(gaveUp, [entry('5', 'cut_json', { elapsedMs: 1900 })]);
  assert.deepEqual(slow, { compared: 1, preempted: 1, disagreements: [] }, 'the host may have been faster');
  assert.deepEqual(Object.values(FAULTS).filter(({ delivered }) => delivered).length, 1);
});

test('the report counts both sides, and a missing signal is named', () => {
  const log = [
    entry('1', 'cut_json', { call: 'a' }),
    entry('2', 'pass', { call: 'a' }),
    entry('3', 'cut_boundary', { call: 'b', tool: 'place_order', json: false }),
    entry('4', 'reset', { call: 'b', tool: 'place_order', json: false }),
  ];
  const operations = ['masked_rotated', 'surfaced'].map(
    (result) => ({ record: 'operation', method: 'tools/call', target: 't', result }) as const,
  );
  const samples = parseExposition(`# HELP x y
tailfin_parse_attempts_total{server="s",of="message",result="cut",size_class="4-8KiB"} 1
tailfin_parse_attempts_total{server="s",of="message",result="ok",size_class="4-8KiB"} 3
tailfin_retries_total{safety="unsafe",endpoint="rotated",outcome="delivered"} 0
tailfin_length_trend_samples_total{of="message",result="ok"} 100
tailfin_length_trend_log2_bytes_total{of="message",result="ok"} 1000
tailfin_length_trend_log2_bytes_squared_total{of="message",result="ok"} 10100
tailfin_length_trend_samples_total{of="message",result="failed"} 10
tailfin_length_trend_log2_bytes_total{of="message",result="failed"} 180
tailfin_length_trend_log2_bytes_squared_total{of="message",result="failed"} 3250
`);
  const signals = measureSignals([...operations, verdict('3', 'ambiguous', 'no_evidence', 'boundary')], samples, log);
  assert.deepEqual(signals.masked, { tailfin: 1, gateway: 1 });
  assert.deepEqual(signals.surfaced, { tailfin: 1, gateway: 1 });
  assert.deepEqual(signals.ambiguous, { tailfin: 1, gateway: 1 });
  assert.deepEqual(signals.sizeClasses, [{ name: '4-8KiB', answers: 4, failed: { tailfin: 1, gateway: 1 } }]);
  assert.ok(signals.trend.z > 4);
  const findings: Findings = {
    complete: true,
    signals,
    check: { compared: 4, preempted: 0, disagreements: [] },
    liveDifferences: [],
  };
  assert.deepEqual(shortfalls(findings), []);
  assert.match(
    renderReport(findings, 1),
    /error rate says +50\.0 %[\s\S]*what it hides +50\.0 %[\s\S]*all 4 exchanges/,
  );
  const nothing = measureSignals([], [], []);
  const failed = {
    ...findings,
    signals: nothing,
    check: { compared: 1, preempted: 0, disagreements: ['x'] },
    liveDifferences: ['y'],
  };
  assert.equal(shortfalls(failed).length, 6);
  assert.match(renderReport(failed, 1), /0 of 1 exchanges\. Not on:\n {2}x\n/);
});
