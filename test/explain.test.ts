/** `tailfin explain` as an operator meets it: goldens, agreement with `replay` on every exchange, selectors, streams, hostile lines. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { before, describe, test } from 'node:test';
import { explainCommand } from '../src/app/command-explain.ts';
import { loadConfig, toPolicy } from '../src/app/config.ts';
import { replay } from '../src/app/replay.ts';
import { ACTION_BY_REASON, SAFETY_BY_REASON } from '../src/core/stages/outcome.ts';
import { ACTION_REASON, SAFETY_TEXT } from '../src/exporters/explain-words.ts';
import { recordOf } from '../src/exporters/records.ts';
import { ANSWERED, client, close, type Line, message, open, settle } from './support/build-event.ts';
import {
  type Ended,
  ensureBuilt,
  linesOf,
  ROOT,
  SCENARIOS,
  shell,
  stdoutOf,
  tailfin,
  tempFolder,
} from './support/cli.ts';

before(ensureBuilt);

const GOLDENS = join(ROOT, 'test/goldens/explain');
const scenario = (name: string): string => relative(ROOT, join(SCENARIOS, name, 'events.ndjson'));
const configFile = (name: string): string | undefined => {
  const file = join(SCENARIOS, name, 'tailfin.yaml');
  return existsSync(file) ? file : undefined;
};
const text = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const explain = (stdin: string, ...args: readonly string[]): Promise<Ended> =>
  tailfin(['explain', '-', ...args], { stdin });

describe('goldens', () => {
  const CASES: readonly (readonly [what: string, name: string, ...args: readonly string[]])[] = [
    ['ambiguous', 'silent-hang'],
    ['masked-rotated', 'masked-by-rotation'],
    ['unsafe', 'unsafe-replay'],
    ['resumed', 'planned-close-resumed', '-x', 'p1'],
    ['not-resumed', 'planned-close-resumed', '-x', 'p2'],
    ['timeout', 'timeout-misattributed', '-x', 't3'],
    ['parse-failure', 'masked-by-rotation', '-x', 'k2'],
    ['refused', 'refused-4xx'],
    ['clean', 'healthy-traffic', '-x', 'o5'],
    ['no-stream', 'healthy-traffic', '-x', 'o7'],
    ['hop', 'not-a-retry', '-x', 'h1'],
    ['input-required', 'not-a-retry', '-x', 'm1'],
    ['carrier-lost', 'carrier-lost'],
    ['replaced-client', 'masked-same-endpoint'],
    ['sentinel', 'sentinel-mandated', '-x', 'm2'],
    ['configured', 'operator-config'],
    ['listen', 'listen-dropped-vs-ended', '-x', 'l1'],
    ['standalone', 'standalone-get-cut', '-x', 'g1'],
    ['nothing-bad', 'healthy-traffic'],
  ];
  for (const [what, name, ...args] of CASES)
    test(`${what}: ${name} ${args.join(' ')}`, async () => {
      const config = configFile(name);
      const options = config === undefined ? [] : ['--config', relative(ROOT, config)];
      const story = await stdoutOf(['explain', scenario(name), ...args, ...options]);
      mkdirSync(GOLDENS, { recursive: true });
      const golden = join(GOLDENS, `${what}.txt`);
      if (process.env.UPDATE_GOLDENS === '1') writeFileSync(golden, story);
      assert.equal(story, readFileSync(golden, 'utf8'), `${golden} differs; if it is meant: UPDATE_GOLDENS=1`);
    });
});

/** Explains without a process of its own. */
async function storyOf(name: string, exchange: string): Promise<string> {
  const parts: string[] = [];
  const output = { write: (part: string) => parts.push(part), settle: async () => {} };
  const file = configFile(name);
  const config = loadConfig(file === undefined ? {} : { file });
  await explainCommand({ files: [scenario(name)], exchange, config, warn: () => {} }, output);
  return parts.join('');
}

describe('agrees with replay, and points at lines that say so', () => {
  /** Exchanges explained per scenario; the long ones repeat themselves. */
  const MAX_EXCHANGES = 12;
  let told = 0;
  for (const name of readdirSync(SCENARIOS))
    test(name, async () => {
      const records: Record<string, unknown>[] = [];
      const file = configFile(name);
      await replay({
        files: [scenario(name)],
        host: 'files',
        policy: toPolicy(loadConfig(file === undefined ? {} : { file })),
        onFact(fact) {
          const record = recordOf(fact);
          if (record !== null) records.push(structuredClone(record) as Record<string, unknown>);
        },
      });
      const lines = readFileSync(join(ROOT, scenario(name)), 'utf8').split('\n');
      const verdicts = records.filter(({ record }) => record === 'verdict').slice(0, MAX_EXCHANGES);
      told += verdicts.length;
      for (const { exchange, outcome, cause, regime, cut, stage } of verdicts) {
        const story = await storyOf(name, exchange as string);
        const part = partOf(story, exchange as string);
        assert.match(part, new RegExp(`^  verdict +${outcome}, ${cause}: `, 'm'), `${exchange}\n${story}`);
        assert.match(
          part,
          new RegExp(`regime ${regime}, cut ${cut},.*${stage === null ? '$' : `failed at ${stage}$`}`, 'm'),
        );
        for (const number of ownLines(part, basename(scenario(name)))) {
          const line = JSON.parse((lines[number - 1] as string).replaceAll('\0', '')) as Record<string, unknown>;
          assert.equal(line.exchange, exchange, `line ${number} is not of ${exchange}`);
        }
        const findings = records.filter((each) => each.record === 'finding' && each.exchange === exchange);
        for (const { rule } of findings) assert.ok(story.includes(`  ${rule}: `), `${exchange} shows ${rule}`);
      }
      const operations = records.filter(({ record }) => record === 'operation').slice(0, MAX_EXCHANGES);
      for (const { exchange, result, next_action, attempts } of operations) {
        const story = await storyOf(name, exchange as string);
        assert.match(story, new RegExp(`^Result\n  ${result}: `, 'm'));
        assert.match(story, new RegExp(`^Next\n  ${next_action ?? 'nothing is known'}`, 'm'));
        assert.equal([...story.matchAll(/^Attempt \d+: /gm)].length, attempts);
      }
    });
  test('there was something to agree on', () => assert.ok(told > 150, `${told} exchanges`));
});

/** The attempt of that exchange, or all of a story without attempts. */
function partOf(story: string, exchange: string): string {
  const parts = story.split(/^(?=Attempt \d+: |Result$|Findings$)/m);
  return (
    parts.find((part) => part.startsWith('Attempt') && part.split(/[: ]+/)[2] === exchange) ?? (parts[0] as string)
  );
}

/** Numbers of the lines behind `lines`, up to the next entry. */
function ownLines(part: string, file: string): number[] {
  const entry = /^ {2}lines +(.*\n(?: {5,}.*\n)*)/m.exec(part)?.[1] ?? '';
  const numbers = [...entry.matchAll(new RegExp(`${file}:(\\d+)  `, 'g'))].map(([, number]) => Number(number));
  assert.ok(numbers.length > 0, part);
  return numbers;
}

describe('selectors', () => {
  const masked = scenario('masked-by-rotation');
  const CASES: readonly (readonly [what: string, code: number, args: readonly string[], stderr: RegExp])[] = [
    ['no such exchange', 2, [masked, '-x', 'zzz'], /^tailfin: --exchange: no exchange "zzz" in this input\n$/],
    ['a near one', 2, [masked, '-x', 'a11'], /no exchange "a11" in this input; did you mean a1/],
    ['no such operation', 2, [masked, '-o', 'h:az'], /no operation "h:az" in this input; did you mean h:aa/],
    ['a key as an exchange', 2, [masked, '-x', 'h:aa'], /it is the key of an operation: use --operation/],
    ['an exchange as a key', 2, [masked, '-o', 'a1'], /it is an exchange: use --exchange/],
    ['both', 2, [masked, '-x', 'a1', '-o', 'h:aa'], /give one of them/],
    ['a strange id', 2, [masked, '-x', 'a\u001b[31m'], /no exchange "a\\u001b\[31m"/],
    ['no such file', 3, ['/none.ndjson'], /cannot read \/none\.ndjson/],
    ['no event', 3, ['/dev/null'], /nothing to explain: no event in \/dev\/null/],
    ['a broken file', 3, ['package.json'], /not accepted.*nothing to explain/s],
  ];
  for (const [what, code, args, stderr] of CASES)
    test(`${code}: ${what}`, async () => {
      const ended = await tailfin(['explain', ...args]);
      assert.equal(ended.code, code, ended.stdout + ended.stderr);
      assert.match(ended.stderr, stderr);
      assert.equal(ended.stdout, '');
    });

  test('by the key of the operation, or by any of its exchanges: the same story', async () => {
    const byKey = await stdoutOf(['explain', masked, '--operation', 'h:aa']);
    assert.equal(await stdoutOf(['explain', masked, '--exchange', 'a1']), byKey);
    assert.equal(await stdoutOf(['explain', masked, '--exchange', 'a2']), byKey);
  });

  test('several operations with one key: the worst is told, the others are named', async () => {
    const stdin = text([close('good', 0, ANSWERED), close('bad', 200_000), close('fine', 900_000, ANSWERED)]);
    const { stdout } = await explain(stdin, '-o', 'a');
    assert.match(stdout, /^3 operations with this key: the worst one is told\.\n\n/);
    assert.match(stdout, /\nAttempt 1: bad on /);
    assert.match(stdout, /\nOthers with this key\n {2}--exchange good .*\n {2}--exchange fine /);
  });

  test('one id on several hosts: all of them are told, and it is said', async () => {
    const stdin = text([close('x', 0, { host: 'h1' }), close('x', 5, { host: 'h2', ...ANSWERED })]);
    const { stdout } = await explain(stdin, '-x', 'x');
    assert.match(stdout, /^x is an exchange of 2 hosts, 2 are told\.\n/);
    assert.match(stdout, /of host h1,[\s\S]* ambiguous, no_evidence[\s\S]*of host h2,[\s\S]*clean, terminal_seen/);
  });

  test('one that never closed, and one that is no request', async () => {
    const lone = { rpc_kind: 'notification', method: 'notifications/initialized', status: 202 };
    const stdin = text([open('o', 0), close('n', 5, lone), close('d', 9, { http_method: 'DELETE', rpc_kind: 'none' })]);
    const never = (await explain(stdin, '-x', 'o')).stdout;
    assert.match(never, /time +\S+, never closed\n/);
    assert.match(never, /verdict +none: it never closed: no line for 15 min/);
    assert.match(never, /failure +unknown: it never ended\n/);
    assert.match((await explain(stdin, '-x', 'n')).stdout, /stream none, no attempt of an operation\n/);
    assert.match((await explain(stdin, '-x', 'd')).stdout, /^tools\/call tool on srv: no verdict\n/);
  });
});

describe('streams that can be read once', () => {
  test('stdin and a pipe: the story of the file, and no copy is left behind', async (t) => {
    const folder = tempFolder(t);
    const file = scenario('unsafe-replay');
    const expected = (await stdoutOf(['explain', file])).replaceAll(`${file}:`, 'stdin:');
    const env = { TMPDIR: folder };
    const noPadding = (story: string): string =>
      story.replace(/(\d) +/g, '$1 ').replaceAll(/\/dev\/fd\/\d+:/g, 'stdin:');
    assert.equal(
      noPadding((await tailfin(['explain', '-'], { stdin: readFileSync(join(ROOT, file), 'utf8'), env })).stdout),
      noPadding(expected),
    );
    const piped = await shell(`tailfin explain <(cat ${file})`, { env });
    assert.equal(piped.code, 0, piped.stderr);
    assert.equal(noPadding(piped.stdout), noPadding(expected));
    assert.deepEqual(readdirSync(folder), []);
    await tailfin(['explain', '-', '-x', 'none'], { stdin: 'broken\n', env });
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('what it shows of lines', () => {
  test('code words and sizes only: no message, no digest, no session', async () => {
    const secrets = ['CANARY in a message', 'CANARY-digest', 'CANARY\nline'];
    const stdin = text([
      open('x', 0, { event_id_digest: secrets[1], args_digest: 'a' }),
      message('x', 5, { result_type: secrets[2], id_match: 'mismatch', event_id_digest: secrets[1] }),
      close('x', 10, { error: secrets[0], list: { digest: secrets[1], auth: secrets[1] }, cut: 'mid' }),
      settle('x', 20, 'error', { error: secrets[0] }),
    ]);
    const { stdout } = await explain(stdin, '-x', 'x');
    assert.doesNotMatch(stdout, /CANARY/);
    assert.match(stdout, /error=\(no code word\)/);
  });

  test('names from outside stay on their line', async () => {
    const name = 'a\nVerdict clean\u001b[32m\u202e';
    const stdin = text([
      close(name, 0, { server: name, client: name, target: name }),
      client('closed', 0, { client: name }),
    ]);
    const { stdout, code } = await explain(stdin);
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /^Verdict clean|[\u001b\u202e]/m);
    assert.match(stdout, /a\\u\{a\}Verdict clean\\u\{1b\}\[32m\\u\{202e\}/);
  });

  test('of an exchange with many lines the first and the last ones', async () => {
    const middle = Array.from({ length: 500 }, (_, i) =>
      message('x', i + 1, { rpc: 'notification', id_match: undefined }),
    );
    const { stdout } = await explain(text([open('x', 0), ...middle, close('x', 600)]), '-x', 'x');
    assert.equal(linesOf(stdout).filter((line) => line.includes('rpc=notification')).length, 38);
    assert.match(stdout, /stdin:1 +open$/m);
    assert.match(stdout, /stdin:502 +close /);
    assert.match(stdout, /\(462 more lines of it\)/);
  });
});

test('every reason of a safety and of a next action has its words', () => {
  assert.deepEqual(Object.keys(SAFETY_TEXT).sort(), Object.keys(SAFETY_BY_REASON).sort());
  assert.deepEqual(Object.keys(ACTION_REASON).sort(), Object.keys(ACTION_BY_REASON).sort());
});
