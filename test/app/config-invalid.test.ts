/** Invalid configuration: one file, its exact messages. They are read by a person at a terminal: judge them as such. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { ConfigError, type ConfigInput, loadConfig } from '../../src/app/config.ts';
import { KEYS } from '../../src/app/config-keys.ts';

const FOLDER = fileURLToPath(new URL('invalid-config/', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'tailfin-config-'));
after(() => rmSync(scratch, { recursive: true }));

const TOP_KEYS = [...new Set(Object.values(KEYS).map(({ path }) => path.split('.')[0])), 'servers'].join(', ');
const SERVER_KEYS = 'match, endpoints, sentinel, self_delimiting, sticky, read_only_tools';
const LISTEN = 'expected HOST:PORT such as 0.0.0.0:19640 or [::]:19640';

const CASES: Record<string, readonly string[]> = {
  '01-unknown-key.yaml': [
    ':1: evnets: unknown key; did you mean "events"?',
    ':2: logLevel: unknown key; did you mean "log_level"?',
    `:3: colour: unknown key; valid here: ${TOP_KEYS}`,
    ':6: servers.library.sentinal: unknown key; did you mean "sentinel"?',
  ],
  '02-misplaced-key.yaml': [
    ':1: cut_mid: unknown key; did you mean "policy.cut_mid"?',
    ':2: policy.cut_mid: unknown key; a dot is a level, write the parts below each other',
    ':3: sentinel: unknown key; did you mean "servers.NAME.sentinel"?',
    ':5: policy.events: unknown key; "events" belongs at the top of the file',
  ],
  '03-wrong-type.yaml': [
    ':1: events: expected a glob or a list of globs, found a map',
    ':3: host: expected text, found the number 42 (put it in quotes)',
    ':4: from: expected "beginning" or "end", found nothing',
    `:5: metrics_listen: ${LISTEN}, found the number 19640`,
    ':8: servers.library.sticky: expected true or false, found "yes"',
    ':9: servers.library.self_delimiting: expected true or false, found "no"',
    ':10: servers.library.match: expected a glob, found a list',
    ':13: servers.library.read_only_tools[1]: expected a glob, found the number 7 (put it in quotes)',
    ':14: servers.library.read_only_tools[2]: expected a glob, found a list',
  ],
  '04-word.yaml': [
    ':1: from: expected "beginning" or "end", found "start"',
    ':2: log_level: expected "debug", "info", "warn" or "error", found "inof"; did you mean "info"?',
    ':4: policy.cut_mid: expected "ambiguous" or "abandoned", found the boolean true',
    ':7: servers.library.endpoints: expected "instance" or "virtual", found "virtuel"; did you mean "virtual"?',
    ':8: servers.library.sentinel: expected "mandated" or "optional", found "required"',
  ],
  '05-given-twice.yaml': [
    ':3: "from" is given twice, first on line 1',
    ':9: servers.archive: "sticky" is given twice, first on line 8',
    ':10: servers: "library" is given twice, first on line 5',
  ],
  '06-list-for-map.yaml': [
    ':1: policy: expected a map of keys, found "abandoned"',
    ':2: servers: expected a map of keys, found a list',
  ],
  '07-not-a-map.yaml': [':3: expected a map of keys, found "abandoned"'],
  '08-tab.yaml': [':3: invalid YAML: tabs are not allowed as indentation'],
  '09-star-without-quotes.yaml': [
    ':3: text that starts with * must be in quotes',
    ':5: text that starts with * must be in quotes',
  ],
  '10-star-in-list-without-quotes.yaml': [
    ':3: text that starts with * must be in quotes',
    ':4: text that starts with ! must be in quotes',
  ],
  '11-bracket-without-quotes.yaml': [
    ':1: text after a closing bracket: text that starts with [ or { must be in quotes',
    ':2: text after a closing bracket: text that starts with [ or { must be in quotes',
    ':3: a second ": " in one line: text that holds one must be in quotes',
  ],
  '12-quote-not-closed.yaml': [':2: the text in quotes that starts here is never closed'],
  '13-indentation.yaml': [':4: invalid YAML: all mapping items must start at the same column'],
  '14-glob.yaml': [
    ':1: events: "/tmp/[a-.ndjson" is not a valid glob: no closing "]" for the "[" (write "\\[" for the character itself)',
    ':4: servers.a.match: "db-{1,2" is not a valid glob: no closing "}" for the "{" (write "\\{" for the character itself)',
    ':6: servers.b.match: "[z-a]" is not a valid glob: range out of order in character class',
    ':8: servers.c.match: "(a|b)" is not a valid glob: groups in parentheses are not supported, write {a,b} for "a or b"',
    ':10: servers.d.match: "*-*-*-*-*" is not a valid glob: more than 4 "*" in one pattern',
    ':13: servers.d.read_only_tools[1]: "get\\\\" is not a valid glob: a lone "\\" at the end',
    ':15: servers.e.match: "a]" is not a valid glob: no opening "[" for the "]" (write "\\]" for the character itself)',
  ],
  '15-empty.yaml': [
    ':1: events: expected at least one glob, found an empty list',
    ':2: from: expected "beginning" or "end", found ""',
    `:3: metrics_listen: ${LISTEN}, found ""`,
    ':6: servers.library.match: must not be empty',
    ':7: servers.library.read_only_tools[0]: must not be empty',
    ':8: servers."": must not be empty',
  ],
  '16-same-match.yaml': [
    ':7: servers."10.0.0.1:80".match: the same pattern as in servers.a on line 3',
    ':9: servers.c.match: these events already belong to servers.a, by its name',
  ],
  '17-listen-host.yaml': [`:1: metrics_listen: ${LISTEN}, found ":19640"`],
  '18-listen-port.yaml': [':1: metrics_listen: port 99999 is not between 0 and 65535'],
  '19-listen-address.yaml': [`:1: metrics_listen: ${LISTEN}, found "300.0.0.1:19640"`],
  '20-two-documents.yaml': [':2: a second document starts here, only one is allowed'],
  '21-long-name.yaml': [
    ':1: host: longer than 128 bytes',
    ':3: servers."server-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...": longer than 128 bytes',
  ],
  '22-odd-keys.yaml': [
    `:5: servers.b."<<": unknown key; valid here: ${SERVER_KEYS}`,
    ':7: servers: a key must be a plain name',
  ],
  '23-too-deep.yaml': [':2: nested more than 40 levels deep'],
  '24-not-utf8.yaml': [': is not UTF-8 text'],
  '25-control-characters.yaml': [
    ':2: from: expected "beginning" or "end", found "a\\nb\\u001b[31m"',
    `:3: "x\\ny": unknown key; valid here: ${TOP_KEYS}`,
  ],
  '26-unknown-anchor.yaml': [':4: text that starts with * must be in quotes'],
  '27-thresholds.yaml': [
    ':2: thresholds.burst_count: expected a whole number above 0 and at most 100, found the number 2.5',
    ':3: thresholds.burst_window_ms: expected a whole number above 0 and at most 86400000, found the number 0',
    ':4: thresholds.loop_count: expected a whole number above 0 and at most 100, found the number -1',
    ':5: thresholds.loop_life_ms: expected a whole number above 0 and at most 86400000, found "2000"',
    ':6: thresholds.silent_hang_ms: expected a whole number above 0 and at most 600000, found the number 600001',
    ':7: thresholds.periodic_spread: expected a number above 0 and at most 1000000, found the number NaN',
    ':8: thresholds.periodic_count: expected a whole number above 0 and at most 100, found the number 101',
    ':9: thresholds.stall_ms: expected a whole number above 0 and at most 86400000, found the number 1.5',
    ':10: thresholds.amplification_ratio: expected a number above 0 and at most 1000000, found the number Infinity',
    ':11: thresholds.burst_windw_ms: unknown key; did you mean "burst_window_ms"?',
    ':12: silent_hang_ms: unknown key; did you mean "thresholds.silent_hang_ms"?',
  ],
};

function problemsOf(input: ConfigInput, folder = FOLDER): readonly string[] {
  try {
    loadConfig(input);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.equal(error.message, error.problems.join('\n'));
    return error.problems.map((problem) => problem.replace(folder, ''));
  }
  return [];
}

test('every file of the folder stands in the table', () => {
  assert.deepEqual(Object.keys(CASES), readdirSync(FOLDER).sort());
});

for (const [name, expected] of Object.entries(CASES)) {
  test(name, () => {
    const problems = problemsOf({ file: join(FOLDER, name) });
    assert.deepEqual(
      problems,
      expected.map((text) => name + text),
    );
    for (const problem of problems) assert.match(problem, /^\P{Cc}{1,240}$/u, 'one line that fits a terminal');
  });
}

test('files that cannot be read', () => {
  const write = (name: string, text: string) => {
    const file = join(scratch, name);
    writeFileSync(file, text);
    return file;
  };
  const one = (file: string) => problemsOf({ file }, `${scratch}/`);
  assert.deepEqual(one(join(scratch, 'missing.yaml')), ['missing.yaml: no such file']);
  assert.deepEqual(one(scratch), [`${scratch}: is a folder`]);
  assert.deepEqual(one(write('big.yaml', `# ${'x'.repeat(1024 * 1024)}`)), ['big.yaml: larger than 1 MiB']);
  assert.deepEqual(one(write('limit.yaml', `#${'x'.repeat(1024 * 1024 - 1)}`)), []);
  const secret = write('secret.yaml', 'from: end');
  chmodSync(secret, 0);
  // root reads everything
  assert.deepEqual(one(secret), process.getuid?.() === 0 ? [] : ['secret.yaml: permission denied']);
});

test('aliases are followed, but only a hundred', () => {
  const file = join(scratch, 'aliases.yaml');
  const write = (count: number) => {
    const copies = Array.from({ length: count }, (_, i) => `  copy${i}: *first\n`).join('');
    writeFileSync(file, `servers:\n  first: &first {sticky: true}\n${copies}`);
  };
  write(100);
  assert.equal(loadConfig({ file }).servers.filter(({ sticky }) => sticky).length, 101);
  write(500);
  assert.deepEqual(problemsOf({ file }, `${scratch}/`), ['aliases.yaml:103: more than 100 aliases']);
});

test('nesting that would exhaust the stack is refused before it is parsed', () => {
  const file = join(scratch, 'deep.yaml');
  for (const text of ['['.repeat(900_000), '- '.repeat(500_000), '? '.repeat(500_000), 'a: {'.repeat(250_000)]) {
    writeFileSync(file, text);
    assert.deepEqual(problemsOf({ file }, `${scratch}/`), ['deep.yaml:1: nested more than 40 levels deep']);
  }
});

test('problems of the environment and of flags name the variable and the flag; all places are reported at once', () => {
  const problems = problemsOf({
    file: join(FOLDER, '18-listen-port.yaml'),
    env: { TAILFIN_FROM: 'begining', TAILFIN_METRICS_LISTEN: '9464', TAILFIN_EVENTS: '/tmp/a,,/tmp/[' },
    flags: { logLevel: 'loud', policyCutMid: '', host: 'x'.repeat(129) },
  });
  assert.deepEqual(problems, [
    '18-listen-port.yaml:1: metrics_listen: port 99999 is not between 0 and 65535',
    'TAILFIN_EVENTS: must not be empty',
    'TAILFIN_EVENTS: "/tmp/[" is not a valid glob: no closing "]" for the "[" (write "\\[" for the character itself)',
    'TAILFIN_FROM: expected "beginning" or "end", found "begining"; did you mean "beginning"?',
    `TAILFIN_METRICS_LISTEN: ${LISTEN}, found "9464"`,
    '--host: longer than 128 bytes',
    '--log-level: expected "debug", "info", "warn" or "error", found "loud"',
    '--policy-cut-mid: expected "ambiguous" or "abandoned", found ""',
  ]);
});

test('ingest: no boolean, no path; open to others than this pod without a token', () => {
  const file = join(scratch, 'ingest.yaml');
  const of = (text: string, more: Omit<ConfigInput, 'file'> = {}) => {
    writeFileSync(file, text);
    return problemsOf({ file, ...more }, `${scratch}/`);
  };
  assert.deepEqual(of('ingest: {enabled: yes, token_file: 7}', { env: { TAILFIN_INGEST: '1' } }), [
    'ingest.yaml:1: ingest.enabled: expected true or false, found "yes"',
    'ingest.yaml:1: ingest.token_file: expected a path, found the number 7 (put it in quotes)',
    'TAILFIN_INGEST: expected true or false, found "1"',
  ]);
  assert.deepEqual(of('ingest: {token_file: "a\\0b"}'), [
    'ingest.yaml:1: ingest.token_file: "a\\u0000b" is not a path',
  ]);
  assert.deepEqual(of('local_listen: 0.0.0.0:1', { flags: { ingest: true } }), [
    'local_listen 0.0.0.0:1 (file ingest.yaml:1) is no loopback address: with ingest.enabled (flag --ingest) ingest.token_file is required',
  ]);
  const listens = (text: string) => of(`ingest: {enabled: true}\nlocal_listen: "${text}"`).length === 0;
  for (const inside of [
    '127.0.0.1:1',
    '127.200.0.1:1',
    '[::1]:1',
    'localhost:1',
    'LOCALHOST:0',
    '[::ffff:127.0.0.1]:1',
  ])
    assert.ok(listens(inside), inside);
  for (const outside of ['0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'localhost.example.com:1', '[::ffff:10.0.0.1]:1'])
    assert.ok(!listens(outside), outside);
  assert.deepEqual(of('ingest: {enabled: true, token_file: /t}\nlocal_listen: 0.0.0.0:1'), []);
  assert.deepEqual(of('local_listen: 0.0.0.0:1'), [], 'nothing is taken in there');
});

test('any text either loads or is a ConfigError', () => {
  const words = readdirSync(FOLDER).flatMap((name) => readFileSync(join(FOLDER, name), 'latin1').split(/(?<=[\s:"'])/));
  const text = fc.array(fc.oneof(fc.constantFrom(...new Set(words)), fc.string({ unit: 'binary' })), { maxLength: 60 });
  const file = join(scratch, 'any.yaml');
  fc.assert(
    fc.property(text, (parts) => {
      writeFileSync(file, parts.join(''));
      for (const problem of problemsOf({ file }, `${scratch}/`)) assert.match(problem, /^any\.yaml(:\d+)?: \P{Cc}+$/u);
    }),
    { numRuns: 2000, seed: 19640 },
  );
});

test('evidence that would be read as events: both keys are named', () => {
  const problems = (events: string, evidenceFile: string, more: object = {}) => {
    try {
      loadConfig({ flags: { events: [events], evidenceFile, ...more } });
      return [];
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.problems;
    }
  };
  assert.deepEqual(problems('/e/*.ndjson', '/e/evidence.ndjson'), [
    'evidence.file "/e/evidence.ndjson" (flag --evidence-file) is written where events "/e/*.ndjson" (flag --events) is read: choose another folder or name',
  ]);
  for (const [glob, file] of [
    ['./e/*', '/e/../e/x'],
    [join(process.cwd(), 'e/*.ndjson'), 'e/x.ndjson'],
    ['/e/**', '/e/a/b'],
    ['/e/x.ndjson*', '/e/x.ndjson'],
    ['/e/*.[0-9]', '/e/x.ndjson'],
  ] as const)
    assert.equal(problems(glob, file).length, glob === './e/*' ? 0 : 1, `${glob} ${file}`);
  for (const [glob, file] of [
    ['/e/*.ndjson', '/e/evidence.json'],
    ['/e/*.ndjson', '/f/evidence.ndjson'],
    ['/e/*.ndjson', '/e/a/evidence.ndjson'],
    ['/e/*', '-'],
    ['/e/*', ''],
  ] as const)
    assert.deepEqual(problems(glob, file), [], `${glob} ${file}`);
  assert.deepEqual(problems('/e/*.[0-9]', '/e/x', { evidenceOldFiles: '0' }), []);
});
