/** Crowds of log lines: what is written, what is counted, and that it is said. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createLogger, type Logger } from '../../src/app/log.ts';
import { createLogLimit } from '../../src/app/log-limit.ts';

test('so many of a kind in a window; how many more is said when it ends; other kinds go on', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const said: unknown[] = [];
    const log: Logger = (level, msg, fields) => said.push([level, msg, fields]);
    const limit = createLogLimit(log, { lines: 2, windowMs: 60_000 });
    let made = 0;
    for (let n = 0; n < 5; n++)
      limit.say('unreadable', 'warn', () => {
        made++;
        return `cannot read ${n}`;
      });
    limit.say('waiting', 'info', 'waiting');
    const first = [
      ['warn', 'cannot read 0', { kind: 'unreadable' }],
      ['warn', 'cannot read 1', { kind: 'unreadable' }],
      ['info', 'waiting', { kind: 'waiting' }],
    ];
    assert.deepEqual(said, first);
    assert.equal(made, 2, 'a line that is not written is not made');
    mock.timers.tick(60_000);
    const told = ['warn', '3 more lines like "unreadable" were suppressed', { kind: 'unreadable', suppressed: 3 }];
    assert.deepEqual(said.slice(3), [told]);

    limit.say('unreadable', 'warn', 'again');
    assert.deepEqual(said.slice(4), [['warn', 'again', { kind: 'unreadable' }]]);
    limit.say('unreadable', 'warn', 'again');
    limit.say('unreadable', 'warn', 'again');
    limit.close();
    assert.deepEqual(said.at(-1), [
      'warn',
      '1 more lines like "unreadable" were suppressed',
      { kind: 'unreadable', suppressed: 1 },
    ]);
    const count = said.length;
    mock.timers.tick(600_000);
    assert.equal(said.length, count, 'nothing is said twice');
  } finally {
    mock.timers.reset();
  }
});

test('a logger writes lines of its level and above, as JSON with time and level first', () => {
  const lines: string[] = [];
  const log = createLogger(
    'warn',
    (line) => void lines.push(line),
    () => new Date(0),
  );
  for (const level of ['debug', 'info', 'warn', 'error'] as const) log(level, `a ${level} "line"\n`, { n: 1 });
  assert.deepEqual(lines, [
    '{"ts":"1970-01-01T00:00:00.000Z","level":"warn","msg":"a warn \\"line\\"\\n","n":1}\n',
    '{"ts":"1970-01-01T00:00:00.000Z","level":"error","msg":"a error \\"line\\"\\n","n":1}\n',
  ]);
});
