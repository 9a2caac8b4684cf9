/** What becomes of `servers` in the core's policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig, toPolicy } from '../../src/app/config.ts';
import { DEFAULT_POLICY } from '../../src/core/model/policy.ts';
import { DEFAULT_THRESHOLDS, THRESHOLDS } from '../../src/core/model/thresholds.ts';
import { close, NO_HEAD, runLines } from '../support/build-event.ts';
import { loadText as load } from './load-text.ts';

test('policy: an exact NAME wins, else the first match in file order', () => {
  const policy = toPolicy(
    load(`
policy: {cut_mid: abandoned}
servers:
  any-db: {match: "db-*", sticky: true}
  ports: {match: "*:8080", endpoints: virtual}
  db-main: {sentinel: mandated}
  "*": {self_delimiting: true}
  "[::1]:8080": {endpoints: instance}
  rest: {match: "{db-x:8080,x/*}", read_only_tools: ["get_*", count]}
`),
  );
  const label = (server: string) => policy.server(server)?.name;
  assert.equal(policy.cutMid, 'abandoned');
  assert.deepEqual(
    policy.servers.map(({ name }) => name),
    ['any-db', 'ports', 'db-main', '*', '[::1]:8080', 'rest'],
  );
  const expected = {
    'db-1': 'any-db',
    'db-1.eu/x:8080': 'any-db', // `ports` fits as well, but comes later
    'db-main': 'db-main', // exact, though `any-db` comes earlier
    'any-db': 'any-db', // its own name too: the label would be the same anyway
    '10.0.0.1:8080': 'ports',
    'http://h/mcp:8080': 'ports',
    '[::1]:8080': '[::1]:8080', // a NAME is no pattern
    ':8080': 'ports',
    '*': '*',
    'x/y.z': 'rest',
    elsewhere: undefined,
    'DB-1': undefined,
    '': undefined,
    __proto__: undefined,
  };
  for (const round of ['first', 'remembered']) {
    for (const [server, name] of Object.entries(expected)) assert.equal(label(server), name, `${server}, ${round}`);
  }
  assert.equal(policy.server('db-main')?.sentinel, 'mandated');
  assert.equal(policy.server('db-1')?.sticky, true);
  assert.equal(policy.server('*')?.selfDelimiting, true);
  assert.equal(policy.server('a:8080')?.endpoints, 'virtual');
  const tools = ['get_book', 'get_', 'count', 'counter', 'lend_book', `get_${'x'.repeat(200)}`];
  assert.deepEqual(
    tools.filter((tool) => policy.server('x/')?.isReadOnlyTool(tool)),
    ['get_book', 'get_', 'count'],
  );
  assert.equal(policy.server('db-1')?.isReadOnlyTool('get_book'), false);
});

test('policy: the same answers after more names than are remembered', () => {
  const policy = toPolicy(load('servers: {db: {match: "db-*"}}'));
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 5000; i++)
      assert.equal(policy.server(`${i % 2 ? 'db' : 'x'}-${i}`)?.name, i % 2 ? 'db' : undefined);
  }
});

test('policy: each threshold of a finding is a key, and what is not set keeps its default', () => {
  for (const [name, { value, unit }] of Object.entries(THRESHOLDS)) {
    const other = unit === 'ratio' ? value / 2 : value + 1;
    const { thresholds } = toPolicy(load(`thresholds:\n  ${name}: ${other}\n`));
    assert.deepEqual(thresholds, { ...DEFAULT_THRESHOLDS, [name]: other });
  }
  assert.deepEqual(toPolicy(load('thresholds:\n')).thresholds, DEFAULT_THRESHOLDS);
});

test('policy: a threshold that was set decides', () => {
  const silent = load('thresholds: {keep_alive_idle_ms: 5001}');
  const connection = { id: 'k', reused: true, idle_ms: 5000 };
  const lines = [close('x', 0, { ...NO_HEAD, connection })];
  assert.equal(runLines(lines).findings('keep_alive_race').length, 1);
  assert.equal(runLines(lines, { policy: toPolicy(silent) }).findings('keep_alive_race').length, 0);
});

test('policy: without a configuration it is the default policy of the core', () => {
  const policy = toPolicy(loadConfig({}));
  assert.equal(policy.cutMid, DEFAULT_POLICY.cutMid);
  assert.deepEqual(policy.servers, DEFAULT_POLICY.servers);
  assert.deepEqual(policy.thresholds, DEFAULT_POLICY.thresholds);
  assert.equal(policy.server('any'), DEFAULT_POLICY.server('any'));
});
