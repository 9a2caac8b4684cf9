/** The command line as an operator meets it: what is printed where, and every exit code. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { decode, isRejection } from '../src/core/stages/decode.ts';
import {
  type Ended,
  ensureBuilt,
  linesOf,
  MAIN,
  ROOT,
  readExposition,
  SCENARIOS,
  shell,
  stdoutOf,
  tailfin,
  tempFolder,
} from './support/cli.ts';

before(ensureBuilt);

const scenario = (name: string): string => join(SCENARIOS, name, 'events.ndjson');
const recordsOf = (stdout: string) => linesOf(stdout).map((line) => JSON.parse(line) as Record<string, unknown>);

/** A refusal: nothing on stdout, the code, and exactly these lines on stderr. */
function assertRefused(ended: Ended, code: number, ...expected: readonly (string | RegExp)[]): void {
  const lines = linesOf(ended.stderr);
  assert.equal(ended.stdout, '');
  assert.equal(lines.length, expected.length, ended.stderr);
  for (const [i, want] of expected.entries()) {
    if (typeof want === 'string') assert.equal(lines[i], want);
    else assert.match(lines[i] ?? '', want);
  }
  assert.equal(ended.code, code, ended.stderr);
}

/** One whole exchange that a call of its own brought about: one verdict, one operation. */
const closeLine = (id: string, ts: number, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({
    v: 1,
    type: 'close',
    ts,
    open_ts: ts - 5,
    client: 'c',
    server: 'shop',
    exchange: id,
    method: 'tools/call',
    target: 'get',
    status: 200,
    content_type: 'text/event-stream',
    how: 'eof',
    by: 'peer',
    terminal: true,
    id_match: 'match',
    bytes: 100,
    ...more,
  })}\n`;

const manyLines = (count: number): string =>
  Array.from({ length: count }, (_, i) => closeLine(`x${i}`, 1_790_000_000_000 + i)).join('');

const COMMANDS = [
  ...[[], ['run'], ['replay'], ['check'], ['explain'], ['demo'], ['schema']],
  ...[['config'], ['config', 'check'], ['config', 'print']],
];

describe('help', () => {
  for (const command of COMMANDS) {
    const name = ['tailfin', ...command].join(' ');
    test(`${name} --help shows examples`, async () => {
      const help = await stdoutOf([...command, '--help']);
      assert.match(help, new RegExp(`^Usage: ${name} `));
      const examples = help.split('\nExamples:\n')[1] ?? '';
      assert.match(examples, new RegExp(`^ +(?:[A-Z_]+=\\S+ )?${name}\\b`), `examples of ${name} itself`);
      for (const line of help.split('\n')) assert.ok(!line.endsWith(' '), `a space at the end: ${line}`);
    });
  }

  test('help names every command, and is the answer to `help`', async () => {
    const help = await stdoutOf(['--help']);
    for (const command of ['run', 'replay', 'check', 'explain', 'demo', 'schema', 'config']) {
      assert.match(help, new RegExp(`^  ${command}\\b`, 'm'));
    }
    assert.match(help, /Exit codes: 0 .*1 .*2 .*3 /);
    assert.equal(await stdoutOf(['help']), help);
    assert.equal(await stdoutOf(['help', 'replay']), await stdoutOf(['replay', '--help']));
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal(await stdoutOf(['--version']), `${version}\n`);
    assert.equal(await stdoutOf(['-V']), `${version}\n`);
  });
});

describe('usage errors: exit 2, the mistake and the way to the help on stderr', () => {
  const HINT = '(see tailfin --help)';
  const CASES: readonly (readonly [args: readonly string[], ...stderr: readonly (string | RegExp)[]])[] = [
    [['bogus'], "error: unknown command 'bogus'", HINT],
    [['repley', 'x'], "error: unknown command 'repley'", '(Did you mean replay?)', HINT],
    [['--verbose'], "error: unknown option '--verbose'", /^\(.*\)$/, HINT],
    [['replay'], "error: missing required argument 'file'", HINT],
    [['replay', '--formt', 'json', 'x'], "error: unknown option '--formt'", '(Did you mean --format?)', HINT],
    [['replay', '--format', 'xml', 'x'], /^error: option .* 'xml' is invalid.*text, json, prom/, HINT],
    [['replay', '--format'], /^error: option .* argument missing/, HINT],
    [['replay', '--events', 'x', 'y'], "error: unknown option '--events'", HINT],
    [['run', 'events.ndjson'], /^error: too many arguments for 'run'/, HINT],
    [['schema', 'extra'], /^error: too many arguments for 'schema'/, HINT],
    [['config', 'check'], "error: missing required argument 'file'", HINT],
  ];
  for (const [args, ...stderr] of CASES) {
    test(args.join(' '), async () => {
      const ended = await tailfin(args);
      // A suggestion is welcome everywhere, but only asked for above.
      if (stderr.length === 3 && linesOf(ended.stderr).length === 2) stderr.splice(1, 1);
      assertRefused(ended, 2, ...stderr);
    });
  }

  for (const args of [[], ['config']]) {
    test(`no command: tailfin ${args}`, async () => {
      const { code, stdout, stderr } = await tailfin(args);
      assert.equal(stdout, '');
      assert.match(stderr, /^Usage: tailfin /);
      assert.equal(code, 2);
    });
  }

  test('values of flags and of the environment', async () => {
    const run = ['run', '--metrics-listen', '9464'];
    assertRefused(await tailfin(run), 2, /^tailfin: --metrics-listen: expected HOST:PORT .* found "9464"$/);
    const env = { TAILFIN_POLICY_CUT_MID: 'abandonned' };
    const replay = ['replay', scenario('cut-json')];
    assertRefused(await tailfin(replay, { env }), 2, /^tailfin: TAILFIN_POLICY_CUT_MID: .*did you mean "abandoned"\?$/);
  });
});

describe('the same input twice: exit 2, one line that names it', () => {
  const file = scenario('cut-json');
  const why = 'every event in it would count twice';
  for (const [command, ...more] of [['replay'], ['check', '--fail-on', 'all'], ['explain']] as const) {
    test(command, async (t) => {
      const link = join(tempFolder(t), 'link.ndjson');
      symlinkSync(file, link);
      const of = (...files: string[]) => tailfin([command, ...files, ...more]);
      assertRefused(await of(file, file), 2, `tailfin: ${file}: given twice; ${why}`);
      assertRefused(await of(file, link), 2, `tailfin: ${link}: the same file as ${file}; ${why}`);
      assertRefused(await of('-', '-'), 2, `tailfin: - (stdin): given twice; ${why}`);
      assert.notEqual((await of(file, scenario('silent-hang'))).code, 2);
    });
  }
});

describe('files that cannot be read', () => {
  test('replay: exit 3, one line', async (t) => {
    const folder = tempFolder(t);
    const missing = join(folder, 'none.ndjson');
    const reason = 'no such file or directory (ENOENT)';
    assertRefused(await tailfin(['replay', missing]), 3, `tailfin: cannot read ${missing}: ${reason}`);
    for (const format of ['text', 'json', 'prom']) {
      const args = ['replay', '--format', format, scenario('cut-json'), missing];
      assertRefused(await tailfin(args), 3, `tailfin: cannot read ${missing}: ${reason}`);
    }
    const hint = `it is a directory (name its files, e.g. ${folder}/*.ndjson)`;
    assertRefused(await tailfin(['replay', folder]), 3, `tailfin: cannot read ${folder}: ${hint}`);
  });

  test('a name with a line end is still one line', async () => {
    const { code, stderr } = await tailfin(['replay', 'no\nsuch\u001b[31m']);
    assert.equal(code, 3);
    assert.match(stderr, /^tailfin: cannot read no\\u\{a\}such\\u\{1b\}\[31m: .*\n$/);
  });

  test('replay of a file that fails while it is read', { skip: !existsSync('/proc/self/mem') }, async () => {
    const line = 'tailfin: cannot read /proc/self/mem: i/o error (EIO)';
    assertRefused(await tailfin(['replay', '/proc/self/mem']), 3, line);
  });

  test('replay and config of a file that may not be read', async (t) => {
    const uid = asNobody();
    if (uid === false) return t.skip('root reads everything, and nobody may not read this checkout');
    const folder = tempFolder(t);
    chmodSync(folder, 0o755);
    const secret = join(folder, 'secret');
    writeFileSync(secret, '');
    chmodSync(secret, 0);
    const line = `tailfin: cannot read ${secret}: permission denied (EACCES)`;
    assertRefused(await tailfin(['replay', secret], uid), 3, line);
    assertRefused(await tailfin(['config', 'check', secret], uid), 2, `tailfin: ${secret}: permission denied`);
    return undefined;
  });

  test('configuration: exit 2, one line', async (t) => {
    const folder = tempFolder(t);
    const missing = join(folder, 'none.yaml');
    for (const args of [
      ['config', 'check', missing],
      ['config', 'print', missing],
      ['config', 'print', '--config', missing],
      ['replay', '--config', missing, scenario('cut-json')],
      ['run', '--config', missing],
    ]) {
      assertRefused(await tailfin(args), 2, `tailfin: ${missing}: no such file`);
    }
    assertRefused(await tailfin(['config', 'check', folder]), 2, `tailfin: ${folder}: is a folder`);
  });
});

/** Options of a child that file permissions apply to; false where there is no such user to be had. */
function asNobody(): { uid?: number } | false {
  if (process.getuid?.() !== 0) return {};
  try {
    const uid = 65534;
    execFileSync(process.execPath, [MAIN, '--version'], { uid, gid: uid, cwd: '/', stdio: 'ignore' });
    return { uid };
  } catch {
    return false;
  }
}

describe('configuration', () => {
  const write = (t: TestContext, text: string): string => {
    const file = join(tempFolder(t), 'tailfin.yaml');
    writeFileSync(file, text);
    return file;
  };

  test('check: ok', async (t) => {
    const file = write(t, 'from: end\nservers:\n  shop: {sentinel: mandated}\n');
    assert.equal(await stdoutOf(['config', 'check', file]), `${file}: ok\n`);
    assert.equal(await stdoutOf(['config', 'check', write(t, '')]).then((text) => text.endsWith(': ok\n')), true);
  });

  test('broken YAML', async (t) => {
    const file = write(t, 'from: end\nservers:\n\tshop: {}\n');
    const line = `tailfin: ${file}:3: invalid YAML: tabs are not allowed as indentation`;
    assertRefused(await tailfin(['config', 'check', file]), 2, line);
    assertRefused(await tailfin(['run', '--config', file]), 2, line);
  });

  test('an unknown key, with the nearest one', async (t) => {
    const file = write(t, 'policy:\n  cutmid: abandoned\n');
    const line = `tailfin: ${file}:2: policy.cutmid: unknown key; did you mean "cut_mid"?`;
    assertRefused(await tailfin(['config', 'check', file]), 2, line);
  });

  test('several problems, each on a line of its own with file, line and field, wherever the file is used', async (t) => {
    const file = write(t, 'evnts: /x\nfrom: nowhere\nmetrics_listen: 9464\nservers:\n  a: {sentinal: mandated}\n');
    const lines = [
      `tailfin: ${file}:1: evnts: unknown key; did you mean "events"?`,
      `tailfin: ${file}:2: from: expected "beginning" or "end", found "nowhere"`,
      /:3: metrics_listen: expected HOST:PORT .* found the number 9464$/,
      `tailfin: ${file}:5: servers.a.sentinal: unknown key; did you mean "sentinel"?`,
    ];
    for (const args of [
      ['config', 'check', file],
      ['config', 'print', file],
      ['run', '--config', file],
      ['replay', '--config', file, scenario('cut-json')],
    ]) {
      assertRefused(await tailfin(args), 2, ...lines);
    }
  });

  test('print loads again, to the same print', async (t) => {
    const file = write(
      t,
      [
        'events: [/tmp/a b.ndjson, "/x/{one,two}/*.ndjson"]',
        'host: "true"',
        'metrics_listen: "[::1]:9999"',
        'policy: {cut_mid: abandoned}',
        'servers: {"a: b": {match: "*.x:80", read_only_tools: ["get_*"]}, plain: {sticky: true}}',
      ].join('\n'),
    );
    const values = (text: string) => text.replace(/ # .*$/gm, '');
    const first = await stdoutOf(['config', 'print', file]);
    const again = await stdoutOf(['config', 'print', '--config', write(t, first)]);
    assert.equal(values(again), values(first));
    assert.match(first, /^host: "true" # file .*tailfin\.yaml:2$/m);
    assert.match(first, /^from: beginning # default$/m);
    assert.equal(await stdoutOf(['config', 'check', write(t, again)]).then((text) => text.endsWith(': ok\n')), true);
  });

  test('the environment wins over the file, a flag over both; the print says which', async (t) => {
    const file = write(t, 'from: beginning\nhost: from-file\nlog_level: error\n');
    const env = {
      TAILFIN_FROM: 'end',
      TAILFIN_HOST: 'from-env',
      TAILFIN_EVENTS: '/a/*.ndjson,/b/{c,d}',
      TAILFIN_PORT: '1',
    };
    const print = await stdoutOf(['config', 'print', '--host', 'from-flag', '--config', file], { env });
    for (const line of [
      'from: end # environment TAILFIN_FROM',
      'host: from-flag # flag --host',
      `log_level: error # file ${file}:3`,
      'events: ["/a/*.ndjson", "/b/{c,d}"] # environment TAILFIN_EVENTS',
    ]) {
      assert.ok(linesOf(print).includes(line), `${line}\nis not in\n${print}`);
    }
    const repeated = await stdoutOf(['config', 'print', '--events', '/a', '--events', '/b']);
    assert.match(repeated, /^events: \[\/a, \/b\] # flag --events$/m);
  });

  test('the environment and a flag reach the verdicts of a replay', async () => {
    const replay = ['replay', '--format', 'json', scenario('policy-cut-mid')];
    const outcome = async (args: readonly string[], env = {}) =>
      recordsOf(await stdoutOf(args, { env })).some(({ cause }) => cause === 'cut_payload');
    assert.equal(await outcome(replay), false);
    assert.equal(await outcome(replay, { TAILFIN_POLICY_CUT_MID: 'abandoned' }), true);
    assert.equal(await outcome([...replay, '--policy-cut-mid', 'abandoned']), true);
    const flagWins = [...replay, '--policy-cut-mid', 'ambiguous'];
    assert.equal(await outcome(flagWins, { TAILFIN_POLICY_CUT_MID: 'abandoned' }), false);
  });
});

describe('schema', () => {
  const origin = { source: 's', writer: 'w', host: 'h' };
  const eventLines = readdirSync(SCENARIOS).flatMap((name) => readFileSync(scenario(name), 'utf8').split(/\r?\n/));
  const accepted = eventLines.filter((line) => line.trim() !== '' && !isRejection(decode(line, origin, 1, 0)));

  test('is the one in docs, and a JSON Schema of draft 2020-12', async () => {
    const text = await stdoutOf(['schema']);
    assert.ok(
      text === readFileSync(join(ROOT, 'docs/event.schema.json'), 'utf8'),
      'docs/event.schema.json is another one',
    );
    assert.equal(createAjv().validateSchema(JSON.parse(text)), true);
  });

  test('accepts every line that the decoder accepts in the scenarios', async () => {
    const validate = createAjv().compile(JSON.parse(await stdoutOf(['schema'])));
    assert.ok(accepted.length > 2000, `${accepted.length} lines`);
    for (const line of accepted) assert.ok(validate(JSON.parse(line)), `${line}\n${JSON.stringify(validate.errors)}`);
  });

  test('refuses what the decoder refuses', async () => {
    const validate = createAjv().compile(JSON.parse(await stdoutOf(['schema'])));
    const good: Readonly<Record<string, unknown>> = JSON.parse(closeLine('x', 1_790_000_000_000));
    assert.ok(validate(good));
    const { exchange: _, ...withoutId } = good;
    for (const bad of [
      [],
      withoutId,
      { ...good, v: 2 },
      { ...good, type: 'closed' },
      { ...good, ts: 'yesterday' },
      { ...good, ts: null },
      { ...good, how: 'weird' },
      { ...good, status: '200' },
      { ...good, exchange: '' },
      { ...good, exchange: null },
      { ...good, bytes: -1 },
      { ...good, connection: { reused: 'yes' } },
    ]) {
      assert.ok(isRejection(decode(JSON.stringify(bad), origin, 1, 0)), JSON.stringify(bad));
      assert.equal(validate(bad), false, JSON.stringify(bad));
    }
  });

  function createAjv(): Ajv2020 {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: false });
    addFormats.default(ajv);
    return ajv;
  }
});

describe('replay', () => {
  const FILE = scenario('masked-by-rotation');

  test('the same from a file and from stdin, in every format', async () => {
    for (const format of ['text', 'json', 'prom']) {
      const replay = ['replay', '--format', format];
      const stdin = readFileSync(FILE, 'utf8');
      assert.equal(await stdoutOf([...replay, '-'], { stdin }), await stdoutOf([...replay, FILE]), format);
    }
    assert.equal(await stdoutOf(['replay', FILE]), await stdoutOf(['replay', '-f', 'text', FILE]));
  });

  test('text: the apparent rate beside what it hides', async () => {
    const text = await stdoutOf(['replay', FILE]);
    assert.match(text, /error rate says 0\.0 %/);
    assert.match(text, /hides 80\.0 %/);
    assert.match(text, /masked_rotated/);
    assert.match(text, /confirm_outcome/);
  });

  test('text: names from outside are shown, not obeyed', async (t) => {
    const file = join(tempFolder(t), 'odd.ndjson');
    const odd = {
      server: 'a\nb',
      target: '\u001b[31mred',
      exchange: 'x\r1',
      endpoint: 'h\u0000:80',
      method: 'm\u001b[2J',
    };
    const close = { v: 1, type: 'close', ts: 1_790_000_000_000, how: 'error', by: 'peer', status: 200, ...odd };
    writeFileSync(file, `${JSON.stringify(close)}\n`);
    const text = await stdoutOf(['replay', file]);
    assert.match(text, /^ {2}a\\u\{a\}b /m);
    assert.match(text, /m\\u\{1b\}\[2J \\u\{1b\}\[31mred on a\\u\{a\}b: /);
    assert.match(text, /x\\u\{d\}1 on h\\u\{0\}:80/);
    assert.doesNotMatch(text, /(?!\n)\p{Cc}/u);
  });

  test('json: one record a line, with the fields of the contract', async () => {
    const records = recordsOf(await stdoutOf(['replay', '-f', 'json', FILE]));
    const first = (record: string) => records.find((each) => each.record === record) ?? {};
    const verdict =
      'ts exchange client server endpoint method target protocol_version stream outcome cause regime cut stage';
    for (const field of `${verdict} by status bytes`.split(' ')) assert.ok(field in first('verdict'), field);
    const operation = 'key server method target result attempts endpoints next_action exchange';
    for (const field of operation.split(' ')) assert.ok(field in first('operation'), field);
    assert.equal(typeof first('operation').attempts, 'number');
    assert.ok(Array.isArray(first('operation').endpoints));
    for (const field of ['rule', 'server', 'exchange']) assert.ok(field in first('finding'), field);
    assert.deepEqual(new Set(records.map(({ record }) => record)), new Set(['verdict', 'operation', 'finding']));
  });

  test('prom: an exposition of our metrics alone, with the totals of the records', async () => {
    const prom = readExposition(await stdoutOf(['replay', '-f', 'prom', FILE]));
    const records = recordsOf(await stdoutOf(['replay', '-f', 'json', FILE]));
    const count = (record: string) => records.filter((each) => each.record === record).length;
    assert.equal(prom.sum('tailfin_operations_total'), count('operation'));
    assert.equal(prom.sum('tailfin_findings_total'), count('finding'));
    assert.equal(prom.sum('tailfin_events_total'), linesOf(readFileSync(FILE, 'utf8')).length);
    for (const name of prom.type.keys()) assert.match(name, /^(tailfin|mcp)_/);
  });

  test('several files are merged by time', async (t) => {
    const folder = tempFolder(t);
    const lines = linesOf(readFileSync(FILE, 'utf8'));
    // Alternating lines: neither file alone holds one exchange in order.
    const parts = [0, 1, 2].map((part) => join(folder, `${part}.ndjson`));
    for (const [part, file] of parts.entries()) {
      writeFileSync(
        file,
        lines
          .filter((_, i) => i % 3 === part)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
    const times = lines.map((line) => (JSON.parse(line) as { ts: number }).ts);
    assert.deepEqual([...times].sort(), times, 'the scenario is in order of time');
    const ofAnswers = (text: string) =>
      recordsOf(text)
        .map((record) => JSON.stringify(record))
        .sort();
    const whole = ofAnswers(await stdoutOf(['replay', '-f', 'json', FILE]));
    assert.deepEqual(ofAnswers(await stdoutOf(['replay', '-f', 'json', ...parts])), whole);
    assert.deepEqual(ofAnswers(await stdoutOf(['replay', '-f', 'json', ...parts.reverse()])), whole);
    const stdin = readFileSync(parts[1] as string, 'utf8');
    const mixed = ['replay', '-f', 'json', parts[0] as string, '-', parts[2] as string];
    assert.deepEqual(ofAnswers(await stdoutOf(mixed, { stdin })), whole);
  });

  test('verdicts of several files come out in order of time', async (t) => {
    const folder = tempFolder(t);
    const at = (i: number) => closeLine(`x${i}`, 1_790_000_000_000 + 1000 * i);
    const write = (name: string, from: number) => {
      const file = join(folder, name);
      writeFileSync(file, Array.from({ length: 3000 }, (_, i) => at(2 * i + from)).join(''));
      return file;
    };
    const args = ['replay', '-f', 'json', write('odd', 1), write('even', 0)];
    const times = recordsOf(await stdoutOf(args))
      .filter(({ record }) => record === 'verdict')
      .map(({ ts }) => ts as number);
    assert.equal(times.length, 6000);
    assert.deepEqual(times, [...times].sort());
  });

  test('a broken line keeps its number in its place, also where several files are merged', async (t) => {
    const folder = tempFolder(t);
    const line = (seq: number, more = '') =>
      `{"v":1,"type":"gap","ts":${1_790_000_000_000 + seq},"writer":"w","seq":${seq},"dropped":1${more}}\n`;
    const text = [0, 1, 2, 3, 4].map((seq) => line(seq)).join('') + line(5).replace('"v":1', '"v":9') + line(7);
    const file = join(folder, 'a.ndjson');
    writeFileSync(file, text);
    writeFileSync(join(folder, 'b.ndjson'), '');
    for (const files of [[file], [file, join(folder, 'b.ndjson')]]) {
      const prom = readExposition(await stdoutOf(['replay', '-f', 'prom', ...files]));
      // Six gap lines of one event each, and number 6 never came.
      assert.equal(prom.sum('tailfin_events_missing_total'), 7, files.join(' '));
      assert.equal(prom.sum('tailfin_events_rejected_total'), 1);
    }
  });

  test('an empty input is a report of nothing, not a failure', async (t) => {
    const empty = join(tempFolder(t), 'empty.ndjson');
    writeFileSync(empty, '');
    assert.match(await stdoutOf(['replay', empty]), /^0 events.*\n\nNothing to report/);
    assert.equal(await stdoutOf(['replay', '-f', 'json', empty]), '');
    assert.equal(await stdoutOf(['replay', '-f', 'json', '-']), '');
    assert.ok(readExposition(await stdoutOf(['replay', '-f', 'prom', empty])).type.size > 20);
  });

  test('what is no event is counted, never fatal', async (t) => {
    const file = join(tempFolder(t), 'mixed.ndjson');
    writeFileSync(file, `\n{"v":1\n[]\n${closeLine('a', 1_790_000_000_000)}{"v":1,"type":"close","ts":1,"exc`);
    const prom = readExposition(await stdoutOf(['replay', '-f', 'prom', file]));
    assert.equal(prom.sum('tailfin_events_total'), 1);
    assert.equal(prom.sum('tailfin_events_rejected_total'), 3);
    assert.match(await stdoutOf(['replay', file]), /^1 event/);
  });
});

describe('a reader that goes away, and a disk that is full', () => {
  const long = scenario('length-correlated-parse');
  /** The exit code of the command alone, on stderr. */
  const into = (reader: string, command: string): string => `{ tailfin ${command}; echo exit $? >&2; } | ${reader}`;
  for (const command of [
    `replay -f json ${long}`,
    `replay -f text ${long}`,
    `replay -f prom ${long}`,
    'schema',
    'config print',
    '--help',
  ]) {
    const name = command.replace(long, 'FILE');
    test(`${name} | head -n 1 ends quietly`, async () => {
      const { stdout, stderr } = await shell(into('head -n 1', command));
      assert.equal(linesOf(stdout).length, 1);
      assert.equal(stderr, 'exit 0\n');
    });
    test(`${name} into a closed pipe ends quietly`, async () => {
      assert.equal((await shell(into('true', command))).stderr, 'exit 0\n');
    });
  }

  test('an endless input is not read on for nobody', async () => {
    const env = { LINE: closeLine('x&', 1_790_000_000_000).trim() };
    const script = `seq inf | sed "s|.*|$LINE|" | ${into('head -n 1', 'replay -f json -')}`;
    assert.equal((await shell(script, { env, timeoutMs: 20_000 })).stderr, 'exit 0\n');
  });

  test('a full disk is one line and exit 3', { skip: !existsSync('/dev/full') }, async () => {
    for (const command of ['schema', `replay ${scenario('cut-json')}`, `replay -f json ${long}`]) {
      assertRefused(await shell(`tailfin ${command} > /dev/full`), 3, /^tailfin: .*no space left on device/);
    }
  });
});

describe('progress', () => {
  /** A slow reader holds the replay up for longer than a second, however fast the machine is. */
  const slowly = (file: string): string => `tailfin replay -f json '${file}' | { sleep 2.5; cat > /dev/null; }`;
  const bigFile = (t: TestContext): string => {
    const file = join(tempFolder(t), 'big.ndjson');
    writeFileSync(file, manyLines(20_000));
    return file;
  };
  /** With a terminal for stderr: what it showed. `script` is the one of util-linux. */
  const onTerminal = async (command: string): Promise<string> => {
    const { code, stdout } = await shell(`export -f tailfin; SHELL=/bin/bash script -qec "${command}" /dev/null`);
    assert.equal(code, 0, stdout);
    return stdout;
  };
  const needsScript = (t: TestContext): boolean => {
    const found = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
    if (!found) t.skip('skipped: needs script');
    return found;
  };

  test('is shown on a terminal, with rate and time left, when a replay takes longer than a second', async (t) => {
    if (!needsScript(t)) return;
    const shown = await onTerminal(slowly(bigFile(t)));
    assert.match(shown, /\r\x1b\[Kreplaying: [\d.]+ [kM]B of [\d.]+ MB \(\d+ %\), [\d.]+ [kM]B\/s, \d+ (s|min) left/);
    assert.ok(shown.endsWith('\r\x1b[K'), `the line is wiped at the end: ${JSON.stringify(shown.slice(-100))}`);
  });

  test('is not shown for a short replay', async (t) => {
    if (!needsScript(t)) return;
    assert.equal(await onTerminal(`tailfin replay -f json '${scenario('cut-json')}' > /dev/null`), '');
  });

  test('is not shown where nobody watches', async (t) => {
    const { code, stderr } = await shell(slowly(bigFile(t)));
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});
