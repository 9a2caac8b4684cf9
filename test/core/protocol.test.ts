/** Endpoints, revisions, media types and methods: what each text means, garbage included. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareEndpoints, hostPort, isIpAddress } from '../../src/core/protocol/endpoint.ts';
import { mediaOf } from '../../src/core/protocol/media.ts';
import { joinsWithoutDigest, METHODS, methodLabel } from '../../src/core/protocol/methods.ts';
import { isStatelessRevision, VERSIONS, versionLabel } from '../../src/core/protocol/revisions.ts';

const ENDPOINTS: Readonly<Record<string, string | null>> = {
  'http://10.0.0.1:8080/mcp': '10.0.0.1:8080',
  'http://10.0.0.1/mcp': '10.0.0.1:80',
  'https://10.0.0.1/mcp': '10.0.0.1:443',
  'https://10.0.0.1:443/': '10.0.0.1:443',
  'http://10.0.0.1:443/': '10.0.0.1:443',
  'HTTPS://Tools.Example.COM/Path?q=1#f': 'tools.example.com:443',
  'https://user:secret@tools.example.com/mcp': 'tools.example.com:443',
  'https://user:p:a@tools.example.com:8443/mcp': 'tools.example.com:8443',
  'https://token@tools.example.com?key=secret': 'tools.example.com:443',
  'http://h/a@b:9': 'h:80',
  'http://h?u=a@b:9': 'h:80',
  'http://[::1]:8080/mcp': '[::1]:8080',
  'http://[2001:DB8::1]/mcp': '[2001:db8::1]:80',
  '10.0.0.1:8080': '10.0.0.1:8080',
  'tools:8080': 'tools:8080',
  'tools:08080': 'tools:8080',
  '[::1]:8080': '[::1]:8080',
  'pod-7f9c': 'pod-7f9c',
  'Pod-7F9C': 'pod-7f9c',
  'http://h.': 'h.:80',
  '': null,
  ' ': null,
  'http://': null,
  'http:///mcp': null,
  'http://h:port/': null,
  'http://h:123456/': null,
  'http://a b/': null,
  'http://h :80/': null,
  '://h': null,
  '[::1': null,
  'http://[]:80': null,
};

test('endpoint: host:port of what a tap may report', () => {
  // The second time it is remembered.
  for (const [text, expected] of Object.entries(ENDPOINTS))
    for (const round of ['first', 'remembered']) assert.equal(hostPort(text), expected, `${text} (${round})`);
  assert.equal(hostPort(undefined), null);
  assert.equal(hostPort(null), null);
});

test('endpoint: user info never leaves it', () => {
  for (const text of Object.keys(ENDPOINTS).filter((each) => /secret|user|token/.test(each)))
    assert.doesNotMatch(hostPort(text) ?? '', /secret|user|token|@/, text);
});

test('endpoint: an answer is the same after more endpoints than are remembered', () => {
  for (let i = 0; i < 2000; i++) assert.equal(hostPort(`http://h${i}/`), `h${i}:80`);
  for (let i = 0; i < 2000; i++) assert.equal(hostPort(`http://h${i}/`), `h${i}:80`);
});

test('endpoint: a pathological text costs no time', () => {
  const started = performance.now();
  for (const text of [
    `http://${'a@'.repeat(1000)}`,
    `http://${'a:'.repeat(1000)}`,
    `[${':'.repeat(2000)}`,
    '@'.repeat(2000),
  ])
    hostPort(text);
  assert.ok(performance.now() - started < 500, 'a regular expression ran wild');
});

test('endpoint: an IP address is one instance, a name may be many', () => {
  for (const text of ['10.0.0.1:8080', '10.0.0.1', '[::1]:8080', '[2001:db8::1]:80'])
    assert.ok(isIpAddress(text), text);
  for (const text of ['tools:8080', 'tools', '10.0.0.1.example.com:80', '1.2.3:80', '10-0-0-1.pod:80'])
    assert.ok(!isIpAddress(text), text);
});

test('endpoint: how the later one relates to the earlier', () => {
  type Row = [before: string | null, after: string | null, configured: 'instance' | 'virtual' | undefined, is: string];
  const rows: Row[] = [
    ['10.0.0.1:80', '10.0.0.2:80', undefined, 'rotated'],
    ['10.0.0.1:80', '10.0.0.1:81', undefined, 'rotated'],
    ['10.0.0.1:80', '10.0.0.1:80', undefined, 'same'],
    ['[::1]:80', '[::1]:80', undefined, 'same'],
    ['10.0.0.1:80', '10.0.0.1:80', 'instance', 'same'],
    ['10.0.0.1:80', '10.0.0.1:80', 'virtual', 'unknown'],
    ['10.0.0.1:80', '10.0.0.2:80', 'virtual', 'rotated'],
    ['tools:80', 'tools:80', undefined, 'unknown'],
    ['tools:80', 'tools:80', 'instance', 'same'],
    ['tools:80', 'tools:80', 'virtual', 'unknown'],
    ['tools:80', 'other:80', undefined, 'rotated'],
    ['tools:80', '10.0.0.1:80', undefined, 'rotated'],
    [null, '10.0.0.1:80', undefined, 'unknown'],
    ['10.0.0.1:80', null, 'instance', 'unknown'],
    [null, null, 'instance', 'unknown'],
  ];
  for (const [before, after, configured, is] of rows)
    assert.equal(compareEndpoints(before, after, configured), is, `${before} ${after} ${configured}`);
});

test('revisions: the header decides, meta stands in, what is not known is `other`', () => {
  for (const version of VERSIONS.slice(0, 5)) {
    assert.equal(versionLabel(version, undefined), version);
    assert.equal(versionLabel(undefined, version), version);
  }
  assert.equal(versionLabel('2025-06-18', '2026-07-28'), '2025-06-18');
  assert.equal(versionLabel(null, '2026-07-28'), '2026-07-28');
  assert.equal(versionLabel('2099-01-01', undefined), 'other');
  assert.equal(versionLabel('', undefined), 'other');
  for (const literal of ['other', 'unknown', 'DRAFT-2026']) assert.equal(versionLabel(literal, undefined), 'other');
  for (const [header, meta] of [
    [undefined, undefined],
    [null, null],
    [null, undefined],
  ])
    assert.equal(versionLabel(header, meta), 'unknown');
});

test('revisions: stateless from 2026-07-28 on; what is unknown follows the older rules', () => {
  for (const version of ['2026-07-28', '2027-01-01']) assert.ok(isStatelessRevision(version, undefined), version);
  for (const version of ['2025-11-25', '2024-11-05', '', 'draft', '9', 'other'])
    assert.ok(!isStatelessRevision(version, undefined), version);
  assert.ok(isStatelessRevision(undefined, '2026-07-28'));
  assert.ok(!isStatelessRevision('2025-11-25', '2026-07-28'));
  assert.ok(!isStatelessRevision(null, null));
});

test('media: what a body is', () => {
  const rows: readonly (readonly [string | null | undefined, boolean, string])[] = [
    ['application/json', false, 'json'],
    ['application/json; charset=utf-8', false, 'json'],
    ['Application/JSON', false, 'json'],
    ['application/problem+json', false, 'json'],
    ['application/jsonl', false, 'other'],
    ['text/event-stream', true, 'sse'],
    ['text/event-stream;charset=utf-8', false, 'sse'],
    ['text/html', true, 'other'],
    ['', false, 'absent'],
    [null, false, 'absent'],
    [undefined, true, 'json'],
    [undefined, false, 'unknown'],
  ];
  for (const [contentType, reportsJson, media] of rows)
    assert.equal(mediaOf(contentType, reportsJson), media, contentType ?? '-');
});

test('methods: a closed label set, and those that join without a digest', () => {
  for (const method of METHODS) assert.equal(methodLabel(method), method);
  for (const method of ['tools/call2', '', 'constructor', '__proto__', null, undefined])
    assert.equal(methodLabel(method), '_other');
  const joined = METHODS.filter(joinsWithoutDigest);
  assert.ok(
    ['tools/list', 'resources/list', 'prompts/list', 'ping', 'server/discover', 'initialize'].every((m) =>
      (joined as string[]).includes(m),
    ),
  );
  assert.ok(
    !joinsWithoutDigest('tools/call') && !joinsWithoutDigest('resources/read') && !joinsWithoutDigest('prompts/get'),
  );
});
