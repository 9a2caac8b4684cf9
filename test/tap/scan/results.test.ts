/** The results that may be looked into: lists over their pages, hints of tools, and what a server declares about itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BodyScanOptions } from '../../../src/tap/scan/body-scan.ts';
import { MAX_CAPTURE_BYTES } from '../../../src/tap/scan/capture.ts';
import type { LineFields } from '../../../src/tap/scan/line-fields.ts';
import { createListPages, type ListPages } from '../../../src/tap/scan/list-pages.ts';
import { MESSAGES } from '../../support/mcp-messages.ts';
import { bodyScan, event, plainDigest, SSE_TYPE, scanOf } from '../../support/scan-body.ts';

const corpus = (name: string): string => MESSAGES.find((message) => message.name === name)?.text as string;
const answer = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 7, result });
const LIST = { method: 'tools/list' } as const;

const listOf = (result: unknown, options: Partial<BodyScanOptions> = LIST): LineFields['list'] =>
  scanOf(answer(result), options).close().list;
const digestOf = (tools: readonly unknown[]): unknown => listOf({ tools })?.digest;

test('a list: its count, and a digest that does not depend on any order', () => {
  const a = { name: 'a', inputSchema: { type: 'object', required: ['x', 'y'] } };
  const b = { name: 'b', description: 'B' };
  assert.equal(listOf({ tools: [a, b] })?.count, 2);
  assert.equal(digestOf([a, b]), digestOf([b, { inputSchema: { required: ['x', 'y'], type: 'object' }, name: 'a' }]));
  assert.equal(digestOf([a, b]), digestOf([{ ...a, _meta: { at: 5 } }, b]), '_meta is about the delivery');
  for (const other of [
    [a],
    [a, b, b],
    [a, { ...b, description: 'b' }],
    [{ ...a, inputSchema: { type: 'object', required: ['y', 'x'] } }, b],
  ])
    assert.notEqual(digestOf([a, b]), digestOf(other), JSON.stringify(other));
  assert.deepEqual(listOf({ tools: [] })?.count, 0);
  assert.equal(listOf({ tools: {} }), undefined);
  assert.equal(listOf(null), undefined);
});

test('each kind of list has its own member, in a JSON body and in an event stream, and in a batch', () => {
  const NAMES = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
  for (const method of NAMES) {
    const { list } = scanOf(corpus(method), { method }).close();
    assert.ok(list?.digest, method);
    assert.deepEqual(scanOf(event(corpus(method)), { method, mediaType: SSE_TYPE }).close().list, list, method);
    const after = event('{"method":"notifications/message"}') + event(corpus(method)) + event('{"method":"x"}');
    assert.deepEqual(scanOf(after, { method, mediaType: SSE_TYPE }).close().list, list, `${method} between notes`);
    assert.deepEqual(
      scanOf(`[${corpus('progress')},${corpus(method)}]`, { method }).close().list,
      list,
      `${method} in a batch`,
    );
    for (const other of NAMES)
      if (other !== method) assert.equal(scanOf(corpus(other), { method }).close().list, undefined);
    assert.equal(
      scanOf(corpus(method), { method: 'tools/call' }).close().list,
      undefined,
      'nothing else is looked into',
    );
    assert.equal(scanOf(corpus(method).slice(0, -1), { method }).close().list, undefined, 'a cut list is none');
    assert.equal(scanOf(`${corpus(method)}x`, { method }).close().list, undefined);
    assert.equal(scanOf(corpus(method).replace('"id":7', '"id":8'), { method }).close().list, undefined);
  }
});

const tool = (n: number) => ({ name: `t${n}`, description: `tool ${n}` });
const page = (pages: ListPages, tools: readonly unknown[], cursor?: string, nextCursor?: string): LineFields['list'] =>
  listOf({ tools, ...(nextCursor === undefined ? {} : { nextCursor }) }, { ...LIST, pages, cursor });

test('a list over pages is one list, wherever the pages are cut', () => {
  const whole = listOf({ tools: [tool(1), tool(2), tool(3)] });
  const pages = createListPages(plainDigest);
  assert.equal(page(pages, [tool(2)], undefined, 'p2'), undefined, 'more to come');
  assert.equal(page(pages, [tool(3)], 'p2', 'p3'), undefined);
  assert.deepEqual(page(pages, [tool(1)], 'p3'), whole);
  assert.deepEqual(page(pages, [tool(1)], 'p3'), whole, 'a page that is asked for twice');
  assert.equal(page(pages, [tool(1)], 'p9'), undefined, 'a page whose forerunner was not seen');
  page(pages, [tool(1)], undefined, 'p2');
  assert.equal(page(pages, [tool(2)], 'p2')?.count, 2, 'a fresh start');
  assert.equal(page(createListPages(plainDigest), [tool(1)], undefined, '')?.count, 1, 'an empty cursor is none');
  assert.equal(listOf({ tools: [tool(1)], nextCursor: 'p2' }), undefined, 'nobody keeps the pages');
  assert.equal(listOf({ tools: [tool(1)] }, { ...LIST, cursor: 'p2' }), undefined);
});

test('pages that never end, and cursors by the thousand, cost bounded memory', () => {
  const pages = createListPages(plainDigest);
  const many = Array.from({ length: 1000 }, (_, n) => tool(n));
  page(pages, many, undefined, 'again');
  for (let n = 0; n < 20; n++) assert.equal(page(pages, many, 'again', 'again'), undefined);
  const flooded = createListPages(plainDigest);
  page(flooded, [tool(0)], undefined, 'first');
  for (let n = 0; n < 1000; n++) page(flooded, [tool(n)], undefined, `c${n}`);
  assert.equal(page(flooded, [tool(1)], 'first'), undefined, 'the oldest chain was given up');
  assert.equal(page(flooded, [tool(1)], 'c999')?.count, 2);
});

test('at most 1 MiB is looked into: in one body, in one event, and over all pages', () => {
  const big = (bytes: number) => [{ name: 'a', description: 'x'.repeat(bytes) }];
  assert.equal(listOf({ tools: big(MAX_CAPTURE_BYTES - 200) })?.count, 1);
  assert.equal(listOf({ tools: big(MAX_CAPTURE_BYTES) }), undefined);
  const events = scanOf(event(answer({ tools: big(MAX_CAPTURE_BYTES) })), { ...LIST, mediaType: SSE_TYPE });
  assert.deepEqual([events.close().list, events.close().terminal], [undefined, true]);
  const noisy = event({ method: 'x', params: big(MAX_CAPTURE_BYTES) }) + event(answer({ tools: [tool(1)] }));
  assert.equal(scanOf(noisy, { ...LIST, mediaType: SSE_TYPE }).close().list?.count, 1, 'a note before it is dropped');
  const pages = createListPages(plainDigest);
  page(pages, big(MAX_CAPTURE_BYTES / 2), undefined, 'p2');
  assert.equal(page(pages, big(MAX_CAPTURE_BYTES / 2), 'p2'), undefined);
});

test('an item that is nested deeper than the stack gives no digest, and takes nothing else away', () => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const { list, terminal } = scanOf(`{"id":7,"result":{"tools":[${deep}]}}`, LIST).close();
  assert.deepEqual([list, terminal], [undefined, true]);
});

test('the memory of a chunk may be used again as soon as it was pushed', () => {
  const whole = scanOf(corpus('tools/list'), LIST).close().list;
  for (const make of [Buffer.from, (text: string) => new TextEncoder().encode(text)]) {
    const scan = bodyScan(LIST);
    for (const part of corpus('tools/list').match(/.{1,50}/gsu) ?? []) {
      const chunk = make(part);
      scan.push(chunk);
      chunk.fill(0);
    }
    assert.deepEqual(scan.close().list, whole);
  }
});

test('hints of tools: what is declared, null where nothing is', () => {
  const tools = [
    { name: 'read', annotations: { readOnlyHint: true, title: 'x' } },
    { name: 'write', annotations: { readOnlyHint: false, idempotentHint: true, destructiveHint: false } },
    { name: 'silent' },
    { name: 'odd', annotations: { readOnlyHint: 'yes' } },
    { name: '__proto__', annotations: [] },
    { annotations: { readOnlyHint: true } },
    5,
  ];
  const expected = new Map<string, object | null>([
    ['read', { read_only: true }],
    ['write', { read_only: false, idempotent: true, destructive: false }],
    ['silent', null],
    ['odd', null],
    ['__proto__', null],
  ]);
  let told: unknown;
  scanOf(answer({ tools, nextCursor: 'p2' }), { ...LIST, onAnswer: (found) => (told = found.tools) });
  assert.deepEqual(told, expected, 'of each page, though the list goes on');
  scanOf(corpus('prompts/list'), { method: 'prompts/list', onAnswer: (found) => (told = found.tools) });
  assert.equal(told, undefined);
});

test('discovery: revision, promise of a terminal message, sessions, and a digest of it all', () => {
  const discovered = (text: string, method: string, mediaType = 'application/json') =>
    scanOf(text, { method, mediaType }).discovery();
  const old = discovered(corpus('initialize'), 'initialize');
  assert.deepEqual([old?.protocol_version, old?.sentinel, old?.sessions], ['2025-11-25', 'optional', undefined]);
  const stateless = discovered(corpus('discover'), 'server/discover');
  assert.deepEqual(
    [stateless?.protocol_version, stateless?.sentinel, stateless?.sessions],
    [undefined, 'mandated', 'stateless'],
  );
  assert.deepEqual(discovered(event(corpus('discover')), 'server/discover', SSE_TYPE), stateless);
  assert.equal(discovered(corpus('method not found'), 'server/discover'), undefined);
  assert.equal(discovered(corpus('initialize'), 'tools/call'), undefined);
  assert.equal(discovered(corpus('initialize').slice(0, -1), 'initialize'), undefined);

  const base = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} } };
  const digest = (more: object) => discovered(answer({ ...base, ...more }), 'initialize')?.digest;
  assert.equal(digest({ instructions: 'other', _meta: {} }), digest({}));
  for (const more of [
    { serverInfo: { name: 's', version: '2' } },
    { capabilities: {} },
    { protocolVersion: '2025-06-18' },
  ])
    assert.notEqual(digest(more), digest({}), JSON.stringify(more));
  const promise = (value: unknown) =>
    discovered(answer({ capabilities: { extensions: { 'dev.tailfin/stream-completion': value } } }), 'initialize')
      ?.sentinel;
  assert.deepEqual([{ terminal: 'required' }, { terminal: 'optional' }, {}, null, 'required', []].map(promise), [
    'mandated',
    ...Array(5).fill('optional'),
  ]);
  for (const result of [null, 5, [], { protocolVersion: 5 }, { protocolVersion: 'a secret of the server' }])
    assert.equal(discovered(answer(result), 'initialize')?.protocol_version, undefined, JSON.stringify(result));
});

test('nothing of a result reaches a line but numbers, closed words and digests', () => {
  const SECRET = 'CANARY';
  const hidden = JSON.parse(corpus('tools/list').replaceAll('order', SECRET)) as object;
  for (const method of ['tools/list', 'initialize', 'server/discover', 'tools/call']) {
    const body = JSON.stringify({ ...hidden, error: undefined }).replace('"id":7', `"${SECRET}":1,"id":7`);
    const more = {
      instructions: SECRET,
      resultType: SECRET,
      serverInfo: { name: SECRET },
      protocolVersion: SECRET,
    };
    for (const text of [
      body,
      answer(more),
      JSON.stringify({ id: 7, error: { code: -1, message: SECRET, data: SECRET } }),
    ])
      for (const mediaType of ['application/json', SSE_TYPE]) {
        const scan = scanOf(mediaType === SSE_TYPE ? event(text, `id: ${SECRET}`) : text, {
          method,
          mediaType,
          digest: () => 'd',
        });
        assert.doesNotMatch(JSON.stringify([scan.close(), scan.parse(), scan.discovery()]), /CANARY/);
      }
  }
});
