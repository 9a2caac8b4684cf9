/** The HTTP source behind a listener of its own, into a pipeline of its own, on a clock that the test moves. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { TestContext } from 'node:test';
import { LIMITS } from '../../src/core/model/limits.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/core/model/policy.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import type { HttpIngestOptions } from '../../src/sources/http-ingest.ts';
import { SOURCES } from '../../src/sources/index.ts';
import type { Account } from '../../src/sources/ingest-batch.ts';
import type { Protocol } from '../../src/sources/ingest-protocol.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { sampleSum } from './build-event.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly bytes: Buffer;
  /** The parsed body. */
  readonly json: Account & { readonly error?: string; readonly message?: string };
}

export interface PostOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as chunks of their own, without Content-Length. */
  readonly pieces?: readonly (Buffer | string)[];
}

/** One request by a connection of its own. */
export function send(url: string, body: Buffer | string, options: PostOptions = {}): Promise<Answer> {
  const { method = 'POST', headers = { 'content-type': 'application/x-ndjson' }, pieces } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const heard: Buffer[] = [];
      response.on('data', (piece: Buffer) => heard.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(heard);
        const text = bytes.toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['json'];
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, bytes, json });
      });
    });
    sent.on('error', reject);
    for (const piece of pieces ?? []) sent.write(piece);
    sent.end(pieces === undefined ? body : undefined);
  });
}

export interface RigOptions extends Partial<HttpIngestOptions> {
  readonly policy?: Policy;
  /** Where the clock stands at first. */
  readonly startAt?: number;
  /** By the path of a request; event lines without. */
  readonly protocols?: Readonly<Record<string, Protocol>>;
}

export async function createIngestRig(t: TestContext, options: RigOptions = {}) {
  const { policy = DEFAULT_POLICY, startAt = Date.parse('2026-11-30T00:00:00Z'), protocols, ...rest } = options;
  const clock = { now: startAt };
  const pipeline = createPipeline({ policy, wallClock: () => clock.now });
  const delivered: string[] = [];
  const watermarks: number[] = [];
  const logs: string[] = [];
  const sink: LineSink = {
    line(text, origin, line, offset) {
      delivered.push(text);
      return pipeline.line(text, origin, line, offset);
    },
    reject: pipeline.reject,
    bytes(bytes, start, end, origin, line, offset) {
      const taken = pipeline.bytes(bytes, start, end, origin, line, offset);
      if (taken !== null) delivered.push(bytes.latin1Slice(start, end));
      return taken;
    },
    invalidUtf8: pipeline.invalidUtf8,
    advance(_, watermark) {
      watermarks.push(watermark);
      pipeline.tick(watermark);
    },
  };
  const source = SOURCES.http.create({
    ...{ name: 'http', host: 'http', maxLineBytes: LIMITS.maxLineBytes, pollMs: 5, now: () => clock.now },
    log: (level, message, kind) => void logs.push(`${level} ${message} [${kind}]`),
    ...rest,
  });
  const server = createServer((req, res) => source.handle(req, res, protocols?.[req.url ?? '']));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const control = new AbortController();
  const running = source.run(sink, control.signal);
  const url = `http://127.0.0.1:${port}/`;
  t.after(async () => {
    control.abort();
    await running;
    server.closeAllConnections();
    server.close();
  });
  return {
    clock,
    sink,
    source,
    delivered,
    watermarks,
    logs,
    pipeline,
    server,
    url,
    stop: () => control.abort(),
    post: (body: Buffer | string, more?: PostOptions) => send(url, body, more),
    /** A connection by hand. */
    socket: () => connect(port, '127.0.0.1'),
    sum(name: string, labels = {}) {
      pipeline.refresh();
      return sampleSum(pipeline.cells.families(), name, labels);
    },
  };
}

export type IngestRig = Awaited<ReturnType<typeof createIngestRig>>;
