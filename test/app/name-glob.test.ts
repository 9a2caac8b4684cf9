/** Globs over names, and the guess of what a misspelt word was meant to be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameGlobFault, nameMatcher } from '../../src/app/name-glob.ts';
import { editDistance, nearest } from '../../src/app/nearest.ts';

const MATCHES: readonly (readonly [glob: string, fits: readonly string[], fitsNot: readonly string[]])[] = [
  ['*', ['a', '.a', 'a/b', '/', 'http://h:1/x', 'a\nb', 'a/../b'], ['']],
  ['db-*', ['db-', 'db-1', 'db-a.b', 'db-a/b', 'db-.x', 'db-a:80', 'db-/'], ['db', 'xdb-1', 'DB-1']],
  ['*:8080', [':8080', '10.0.0.1:8080', 'http://h/x:8080', './a:8080', '[::1]:8080'], ['a:80801', 'a:808']],
  ['*.internal/*', ['a.b.internal/mcp', '.internal/'], ['internal/mcp', 'a.internal']],
  ['db-?', ['db-1', 'db-.', 'db-/'], ['db-', 'db-12']],
  ['db-[0-9]', ['db-7'], ['db-x', 'db-77', 'db-7/']],
  ['{db,cache}-*', ['db-1', 'cache-1'], ['web-1', 'db']],
  ['a**b', ['ab', 'a/x/b'], ['a']],
  ['\\[::1\\]:*', ['[::1]:80'], ['::80', '1:80']],
  ['a\\*b', ['a*b'], ['axb']],
  ['!a', ['!a'], ['a', 'b']],
  ['#a', ['#a'], []],
  ['[ab]+', ['a+'], ['aa', 'a']],
  ['@a', ['@a'], ['a']],
  ['./a', ['./a'], ['a']],
];

for (const [glob, fits, fitsNot] of MATCHES) {
  test(`glob ${glob}`, () => {
    assert.equal(nameGlobFault(glob), undefined);
    const matches = nameMatcher([glob]);
    for (const name of fits) assert.equal(matches(name), true, `${name} fits`);
    for (const name of fitsNot) assert.equal(matches(name), false, `${name} does not fit`);
  });
}

test('several globs: any of them; none: nothing; longer names than ids can be: nothing', () => {
  const matches = nameMatcher(['get_*', 'count']);
  assert.deepEqual(['get_a', 'count', 'set_a'].map(matches), [true, true, false]);
  assert.equal(nameMatcher([])('a'), false);
  assert.deepEqual(
    [128, 129].map((length) => nameMatcher(['*'])('x'.repeat(length))),
    [true, false],
  );
});

test('no accepted pattern takes long on a hostile name', () => {
  const piece = fc.constantFrom(
    '*',
    '?',
    'a',
    'b',
    '[ab]',
    '{a,*a}',
    '+',
    '/',
    '(',
    ')',
    '!',
    '@',
    '|',
    '**',
    '\\',
    '{a,b}',
  );
  const pattern = fc.array(piece, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));
  const names = ['a', 'ab', '/a'].map((part) => `${part.repeat(128 / part.length).slice(0, 127)}c`);
  fc.assert(
    fc.property(pattern, (glob) => {
      if (nameGlobFault(glob) !== undefined) return;
      const start = performance.now();
      for (const name of names) nameMatcher([glob])(name);
      assert.ok(performance.now() - start < 3000, glob);
    }),
    { numRuns: 2000, seed: 19640 },
  );
});

test('nearest: slips are recognised, other words are not', () => {
  const words = ['events', 'from', 'host', 'metrics_listen', 'log_level', 'policy', 'servers'];
  const expected = {
    evnets: 'events',
    event: 'events',
    form: 'from',
    hots: 'host',
    'metrics-listen': 'metrics_listen',
    metricsListen: 'metrics_listen',
    metric_listen: 'metrics_listen',
    LOGLEVEL: 'log_level',
    server: 'servers',
    polices: 'policy',
    state: undefined,
    x: undefined,
    '': undefined,
    [`events${'s'.repeat(1e6)}`]: undefined,
  };
  for (const [word, meant] of Object.entries(expected)) assert.equal(nearest(word, words), meant, word.slice(0, 20));
});

test('edit distance: insert, delete, replace, swap', () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['abc', 'abc', 0],
    ['abc', 'axc', 1],
    ['abc', 'acb', 1],
    ['abcd', 'badc', 2],
    ['kitten', 'sitting', 3],
  ];
  for (const [a, b, distance] of rows) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});
