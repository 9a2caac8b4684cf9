/** Names that stand in the key of the index alone: nobody who asks or sets one may notice, whatever the names are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createGraphReader } from '../../src/app/checkpoint/graph-reader.ts';
import { GraphWriter } from '../../src/app/checkpoint/graph-writer.ts';
import type { Attempt } from '../../src/core/model/operation.ts';
import { emptyAttempt, holdNamesIn, operationOf, releaseNames } from '../../src/core/stages/attempt.ts';
import { indexKey, plainCopy } from '../../src/core/stages/held-names.ts';
import { holds } from '../support/property.ts';
import { bytesOf } from '../support/restart.ts';

const names = fc.oneof(
  fc.string(),
  fc.constantFrom('', 'a\nb', '\n', 'server-1', 'é', 'a name that is longer than 13'),
);
interface Named {
  host: string;
  server: string;
  target: string | null;
}
const named = fc.record<Named>({ host: names, server: names, target: fc.option(names) }, { noNullPrototype: true });
const namesOf = ({ host, server, target }: Named): Named => ({ host, server, target });

/** As joining.ts does it. */
function held(given: Named, digest: string): Attempt {
  const attempt = Object.assign(emptyAttempt(), { ...given, method: 'tools/call', argsDigest: digest });
  attempt.operation = operationOf(attempt);
  holdNamesIn(indexKey(digest, given.host, given.server, 'tools/call', given.target), attempt.operation);
  return attempt;
}

holds(
  'what is held in a key is what was given, of the attempt and of its operation, until one is set',
  2000,
  [named, named, names],
  (given, later, digest) => {
    const attempt = held(given, digest);
    const { operation } = attempt;
    assert.ok(operation !== null);
    assert.deepEqual([namesOf(attempt), namesOf(operation)], [given, given]);
    // The same again, as each later line does, then others, one by one.
    Object.assign(attempt, given);
    assert.deepEqual(namesOf(attempt), given);
    attempt.server = later.server;
    assert.deepEqual(namesOf(attempt), { ...given, server: later.server });
    attempt.host = later.host;
    attempt.target = later.target;
    assert.deepEqual([namesOf(attempt), namesOf(operation)], [later, given]);
    releaseNames(operation);
    assert.deepEqual([namesOf(attempt), namesOf(operation)], [later, given]);
  },
);

test('a copy, JSON and a record of the state show the names as fields', () => {
  const given = { host: 'host', server: 'server', target: 'tool' };
  const attempt = held(given, 'h:1');
  const plain = plainCopy(attempt);
  assert.deepEqual(namesOf(plain), given);
  assert.deepEqual(Object.keys(plain).sort(), [...new Set([...Object.keys(attempt), ...Object.keys(given)])].sort());
  assert.deepEqual(JSON.parse(JSON.stringify({ ...plain, operation: null })).server, 'server');

  const writer = new GraphWriter();
  function* pieces() {
    // Records that were read back are plain; both stand in one state.
    yield* writer.write([plain, attempt, held({ ...given, server: 'other' }, 'h:2')]);
    yield writer.end();
  }
  const [first, second, third] = createGraphReader(bytesOf(pieces())).read() as Attempt[];
  assert.ok(first && second?.operation && third?.operation);
  for (const each of [first, second, second.operation]) assert.deepEqual(namesOf(each), given);
  assert.equal(second.operation.attempts[0], second);
  assert.equal(third.operation.server, 'other');
});

test('a key does not hold names that it cannot tell apart', () => {
  for (const given of [
    { host: 'h\n', server: 's', target: 't' },
    { host: 'h', server: 's', target: '' },
    { host: 'h', server: 's\nm', target: 't' },
  ]) {
    const attempt = held(given, 'h:1');
    holdNamesIn(indexKey('h:1', 'h', 's', 'tools/call', 't'), attempt.operation as never);
    assert.deepEqual(namesOf(attempt), given);
  }
});
