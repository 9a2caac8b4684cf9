/** OTLP by an implementation that shares nothing with ours: the generated Python code of opentelemetry-proto. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { send } from '../support/ingest-rig.ts';
import {
  CONTENT_TYPE,
  createOtlpRig,
  jsonRequest,
  jsonSpan,
  type OtlpRig,
  PYTHON_RESOURCE,
  PYTHON_SPANS,
  type SpanSpec,
  totalsOf,
} from '../support/otlp.ts';

const SCRIPT = fileURLToPath(new URL('../support/otlp_encode.py', import.meta.url));
/** `.ci/run` installs the package into the second one. */
const python = [process.env.TAILFIN_TEST_PYTHON ?? 'python3', '/opt/tailfin-otlp/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import opentelemetry.proto.collector.trace.v1.trace_service_pb2']).status === 0,
);

const pythonTest = (name: string, body: (t: TestContext) => Promise<void>): void => {
  test(name, async (t) => (python === undefined ? t.skip('skipped: needs opentelemetry-proto of Python') : body(t)));
};

function run(mode: string, input: string | Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync(python as string, [SCRIPT, mode], {
    input,
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, stderr.toString());
  return stdout;
}

const post = (rig: OtlpRig, body: Buffer | string, path: string, codec: 'json' | 'protobuf' = 'protobuf') =>
  send(`${rig.url}${path}`, body, { headers: { 'content-type': CONTENT_TYPE[codec] } });

const SPANS: readonly SpanSpec[] = Object.values(PYTHON_SPANS).map((span, i) => ({ ...span, at: 1000 * i }));

pythonTest('spans in protobuf move what the same spans in JSON move', async (t) => {
  const [protobuf, json] = [await createOtlpRig(t), await createOtlpRig(t)];
  const startAt = protobuf.clock.now - 60_000;
  const spans = SPANS.map(({ at = 0, ms = 100, status, ...rest }) => ({
    ...{ start: startAt + at, end: startAt + at + ms, status: status === 'error' ? 2 : 0 },
    ...rest,
  }));
  const traceId = '5b8efff798038103d269b633813fc60c';
  const request = run('traces', JSON.stringify({ traceId, spans, resource: PYTHON_RESOURCE }));
  assert.equal((await post(protobuf, request, 'v1/traces')).status, 200);
  const same = jsonRequest(
    SPANS.map((span, i) => jsonSpan(i, span, startAt)),
    PYTHON_RESOURCE,
  );
  assert.equal((await post(json, same, 'v1/traces', 'json')).status, 200);
  assert.deepEqual(protobuf.delivered, json.delivered);
  assert.equal(protobuf.delivered.length, SPANS.length);
  assert.deepEqual(totalsOf(protobuf), totalsOf(json));
});

pythonTest('log records in protobuf are the lines that they hold', async (t) => {
  const rig = await createOtlpRig(t);
  const line = { v: 1, type: 'close', ts: rig.clock.now - 0.5, exchange: 'é', how: 'eof', bytes: 7, terminal: true };
  const more = {
    ...line,
    exchange: 'y',
    connection: { id: 'c', reused: false, idle_ms: 0 },
    x: [1, ['a', { b: -2.5 }]],
  };
  const request = run('logs', JSON.stringify({ bodies: [line, JSON.stringify(line), more, 'other'] }));
  assert.equal((await post(rig, request, 'v1/logs')).status, 200);
  assert.deepEqual(
    rig.delivered.map((text) => JSON.parse(text)),
    [line, line, more],
  );
});

pythonTest('it reads our answers', async (t) => {
  const rig = await createOtlpRig(t);
  const answer = async (spans: readonly object[]) => {
    const request = run('traces', JSON.stringify({ traceId: '', spans, resource: {} }));
    return JSON.parse(run('answer', (await post(rig, request, 'v1/traces')).bytes).toString());
  };
  assert.deepEqual(await answer([]), [0, '']);
  const span = { name: 'x', start: 1, end: 2, attributes: { 'mcp.method.name': 'ping' } };
  assert.deepEqual(await answer([span, { ...span, attributes: {} }]), [1, 'missing_field']);
});
