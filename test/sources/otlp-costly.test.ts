/** OTLP requests that are made to cost: refused or rejected, in bounded time and memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OtlpFormat } from '../../src/sources/otlp/deliver.ts';
import { LOGS, type Signal, TRACES } from '../../src/sources/otlp/signals.ts';
import { collectGarbage } from '../support/live-heap.ts';
import { type Delivered, deliver, field, inRequest } from '../support/otlp-deliver.ts';

describe('requests that are made to cost', () => {
  /** The heap that is used at most, in MiB over what it was. */
  async function heapOf(work: () => Promise<unknown>): Promise<number> {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const watch = () => {
      most = Math.max(most, process.memoryUsage().heapUsed - before);
    };
    const timer = setInterval(watch, 1);
    await work();
    watch();
    clearInterval(timer);
    return most / 1024 / 1024;
  }

  const value = (depth: number): Uint8Array => {
    let bytes = field(1, Buffer.from('x'));
    for (let i = 0; i < depth; i++) bytes = field(5, field(1, bytes));
    return bytes;
  };
  const deepJson = (depth: number) => `${'{"arrayValue":{"values":['.repeat(depth)}${']}}'.repeat(depth)}`;
  const SIZE = 8 * 1024 * 1024;
  const inSpan = (members: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[{${members}}]}]}]}`;
  const inLog = (body: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${body}}]}]}]}`;
  const attributes = (bytes: number) => {
    const one = field(9, Buffer.concat([field(1, Buffer.from('a')), field(2, field(1, Buffer.from('b')))]));
    return Buffer.concat(Array(Math.floor(bytes / one.length)).fill(one));
  };

  const CASES: Readonly<Record<string, readonly [Buffer | string, OtlpFormat, Signal, 'refused' | 'rejected']>> = {
    'brackets that never close': ['['.repeat(SIZE), 'json', TRACES, 'refused'],
    'braces that never close': ['{"resourceSpans":'.repeat(SIZE / 17), 'json', TRACES, 'refused'],
    'brackets in a span': [inSpan(`"x":${'['.repeat(400_000)}${']'.repeat(400_000)}`), 'json', TRACES, 'rejected'],
    'brackets in a longer span': [
      inSpan(`"x":${'['.repeat(SIZE / 2 - 100)}${']'.repeat(SIZE / 2 - 100)}`),
      'json',
      TRACES,
      'rejected',
    ],
    'values in values, JSON': [inLog(deepJson(30_000)), 'json', LOGS, 'rejected'],
    'values in values, protobuf': [inRequest(field(5, value(5000))), 'protobuf', LOGS, 'rejected'],
    'groups in groups': [inRequest(Buffer.alloc(500_000, 0x0b)), 'protobuf', TRACES, 'rejected'],
    'a quarter of a million attributes': [inRequest(attributes(1_000_000)), 'protobuf', TRACES, 'rejected'],
    'a million attributes': [inRequest(attributes(SIZE - 100)), 'protobuf', TRACES, 'rejected'],
    'a text that claims 4 GiB': [Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), 'protobuf', TRACES, 'refused'],
    'a number without an end': [Buffer.alloc(SIZE, 0xff), 'protobuf', TRACES, 'refused'],
    'an array of zeros': [inSpan(`"attributes":[${'0,'.repeat(500_000)}0]`), 'json', TRACES, 'rejected'],
    'a text of escapes': [inSpan(`"name":"${'\\u0000'.repeat(170_000)}"`), 'json', TRACES, 'rejected'],
  };

  for (const [name, [body, format, signal, expected]] of Object.entries(CASES))
    test(name, async (t) => {
      let delivered: Delivered | undefined;
      const start = process.cpuUsage();
      const grown = await heapOf(async () => {
        delivered = await deliver(body, format, signal);
      });
      const { user } = process.cpuUsage(start);
      t.diagnostic(
        `${(body.length / 1e6).toFixed(1)} MB: ${grown.toFixed(1)} MiB of heap, ${(user / 1000).toFixed(0)} ms`,
      );
      const { result, rejected } = delivered as Delivered;
      assert.equal('error' in result ? 'refused' : rejected === 1 ? 'rejected' : 'taken', expected);
      assert.ok(grown < 128, `${grown} MiB`);
      assert.ok(user < 5_000_000, `${user} us`);
    });
});
