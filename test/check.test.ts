/** `tailfin check` as a CI job meets it: exit codes, the three formats read by other people's parsers, hostile names, bounds. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../src/app/config.ts';
import { rulesOf } from '../src/app/fail-on.ts';
import { DETECTORS } from '../src/core/detectors/index.ts';
import { checksOf } from './check-cases.mjs';
import { close, type Fields, type Line, parse } from './support/build-event.ts';
import { type Ended, ensureBuilt, linesOf, ROOT, SCENARIOS, shell, tailfin, tempFolder } from './support/cli.ts';
import { sarifErrors, sarifRun } from './support/sarif.ts';
import { childrenOf, parseXml, type XmlElement } from './support/xml.ts';

before(ensureBuilt);

const GOLDENS = join(ROOT, 'test/goldens/check');
const scenario = (name: string): string => relative(ROOT, join(SCENARIOS, name, 'events.ndjson'));
const configOf = (name: string): string[] => {
  const file = join(SCENARIOS, name, 'tailfin.yaml');
  return existsSync(file) ? ['--config', file] : [];
};
const check = (file: string, failOn: string, ...more: readonly string[]): Promise<Ended> =>
  tailfin(['check', file, '--fail-on', failOn, ...more]);
const text = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
/** Row 13, once each. */
const ambiguous = (ids: readonly string[], fields: Fields = {}): string =>
  text(ids.map((id, i) => close(id, 1000 * i, { args_digest: `d${i}`, ...fields })));

const BUILT = DETECTORS.map(({ rule }) => rule as string);

describe('scenarios: what expect.txt says fires fails the check, what it says is silent passes', () => {
  const seen = { fires: new Set<string>(), silent: new Set<string>() };
  for (const name of readdirSync(SCENARIOS)) {
    const rules = { fires: new Set<string>(), silent: new Set<string>() };
    for (const line of checksOf(readFileSync(join(SCENARIOS, name, 'expect.txt'), 'utf8'))) {
      const [, no, rule = '', rest] = /^(no )?finding rule=(\w+)(.*)$/.exec(line) ?? [];
      if (!BUILT.includes(rule)) continue;
      if (no === undefined) rules.fires.add(rule);
      else if (rest === '') rules.silent.add(rule);
    }
    // "Nothing may fire", says its why.md.
    if (name === 'healthy-traffic') for (const rule of BUILT) rules.silent.add(rule);
    for (const [code, kind] of [
      [1, 'fires'],
      [0, 'silent'],
    ] as const) {
      if (rules[kind].size === 0) continue;
      test(`${name}: ${kind}`, async () => {
        for (const rule of rules[kind]) seen[kind].add(rule);
        const words = [...rules[kind]];
        const ended = await check(scenario(name), words.join(','), '--format', 'sarif', ...configOf(name));
        assert.equal(ended.code, code, ended.stdout + ended.stderr);
        const found = new Set(sarifRun(ended.stdout).results.map(({ ruleId }) => ruleId));
        assert.deepEqual([...found].sort(), code === 0 ? [] : words.sort());
      });
    }
  }
  test('a size step, which no scenario has: fires, and is silent while one of the small ones fails too', async () => {
    const sizes = Array.from({ length: 31 }, (_, i) => (i < 20 ? 1000 : 90_000));
    const lines = (failing: number) =>
      text(sizes.map((bytes, i) => parse(undefined, i, { bytes, ok: bytes < 90_000 && i !== failing, at_end: true })));
    const run = (failing: number) =>
      tailfin(['check', '-', '--fail-on', 'parse_failure_size_step'], { stdin: lines(failing) });
    assert.equal((await run(-1)).code, 1);
    assert.equal((await run(0)).code, 0);
    seen.fires.add('parse_failure_size_step');
  });
  test('each rule is seen to fail a check, and to pass one', () => {
    assert.deepEqual([...seen.fires].sort(), [...BUILT].sort());
    assert.deepEqual([...seen.silent].sort(), [...BUILT].sort());
  });
});

describe('exit codes', () => {
  const bad = scenario('masked-by-rotation');
  const good = scenario('healthy-traffic');
  const CASES: readonly (readonly [what: string, code: number, args: readonly string[], stderr: RegExp])[] = [
    ['no hit', 0, [good, '--fail-on', 'all'], /^$/],
    ['a hit', 1, [bad, '--fail-on', 'unsafe_retry'], /^$/],
    ['a finding of another rule', 0, [bad, '--fail-on', 'id_mismatch'], /^$/],
    ['one of several', 1, [bad, '--fail-on', 'id_mismatch,unsafe_retry'], /^$/],
    ['given twice', 1, [bad, '--fail-on', 'id_mismatch', '--fail-on', 'unsafe_retry, unsafe_retry'], /^$/],
    ['one of several files', 1, [good, bad, '--fail-on', 'unsafe_retry'], /^$/],
    ['no --fail-on', 2, [bad], /--fail-on: name the rules that fail the check.*valid: ambiguous_close, .*, or all\)/],
    ['an empty one', 2, [bad, '--fail-on', ','], /--fail-on: name the rules/],
    [
      'a misspelt rule',
      2,
      [bad, '--fail-on', 'unsafe_retri'],
      /unknown rule "unsafe_retri", did you mean unsafe_retry\?/,
    ],
    ['a strange word', 2, [bad, '--fail-on', 'x\u001b[31m'], /unknown rule "x\\u001b\[31m" \(valid: /],
    ['a good and a bad one', 2, [bad, '--fail-on', 'unsafe_retry,nothing_known'], /unknown rule "nothing_known"/],
    ['no file', 2, ['--fail-on', 'all'], /missing required argument 'file'/],
    ['a format that is none', 2, [bad, '--fail-on', 'all', '--format', 'xml'], /text, junit, sarif/],
    ['no such configuration', 2, [bad, '--fail-on', 'all', '--config', '/none.yaml'], /none\.yaml: no such file/],
    ['no such file', 3, ['/none.ndjson', '--fail-on', 'all'], /cannot read \/none\.ndjson/],
    ['one of two is missing', 3, [bad, '/none.ndjson', '--fail-on', 'all'], /cannot read \/none\.ndjson/],
    ['a folder', 3, [SCENARIOS, '--fail-on', 'all'], /it is a directory/],
    ['an empty file', 3, ['/dev/null', '--fail-on', 'all'], /nothing was checked: no event in \/dev\/null/],
    ['no event file at all', 3, ['package.json', '--fail-on', 'all'], /lines? not accepted \(.*nothing was checked/s],
  ];
  for (const [what, code, args, stderr] of CASES)
    test(`${code}: ${what}`, async () => {
      const ended = await tailfin(['check', ...args]);
      assert.equal(ended.code, code, ended.stdout + ended.stderr);
      assert.match(ended.stderr, stderr);
      if (code >= 2) assert.equal(ended.stdout, '');
    });

  test('stdin, and a reader that leaves early: the answer stands', async () => {
    const many = ambiguous(Array.from({ length: 2000 }, (_, i) => `x${i}`));
    assert.equal((await tailfin(['check', '-', '--fail-on', 'all'], { stdin: many })).code, 1);
    const script = 'set -o pipefail; tailfin check - --fail-on ambiguous_close --format sarif | head -c 10';
    assert.equal((await shell(script, { stdin: many })).code, 1);
  });

  test('the GitHub step of docs/check.md leaves a SARIF file exactly where there is a result', async (t) => {
    const doc = readFileSync(join(ROOT, 'docs/check.md'), 'utf8');
    const step = /run: \|\n((?: {6}.*\n)+)/.exec(doc)?.[1];
    assert.ok(step !== undefined);
    const healthy = readFileSync(join(SCENARIOS, 'healthy-traffic/events.ndjson'), 'utf8');
    const unsafe = readFileSync(join(SCENARIOS, 'unsafe-replay/events.ndjson'), 'utf8');
    for (const [events, code] of [
      [healthy, 0],
      [unsafe, 1],
      ['', 3],
    ] as const) {
      const folder = tempFolder(t);
      mkdirSync(join(folder, 'events'));
      writeFileSync(join(folder, 'events/a.ndjson'), events);
      const ended = await shell(`set -e\n${step}`, { cwd: folder });
      assert.deepEqual([ended.code, existsSync(join(folder, 'tailfin.sarif'))], [code, code < 2], ended.stderr);
    }
  });

  test('a rule without a detector is refused: it would never fire', () => {
    const [first, second] = DETECTORS;
    assert.ok(first !== undefined && second !== undefined);
    assert.throws(() => rulesOf([second.rule], [first], BUILT), /has no detector in this version, it would never fire/);
    assert.throws(() => rulesOf(['all', 'x'], DETECTORS), ConfigError);
    assert.deepEqual(rulesOf([`${second.rule},${first.rule}`], DETECTORS), [first, second]);
    assert.deepEqual(rulesOf(['all'], DETECTORS), DETECTORS);
  });
});

describe('what it could not read', () => {
  test('lines that were not accepted, events that never came, a file without an event: warnings in every format', async (t) => {
    const folder = tempFolder(t);
    const [empty, broken] = [join(folder, 'empty.ndjson'), join(folder, 'broken.ndjson')];
    writeFileSync(empty, '');
    const gap = JSON.stringify({ v: 1, type: 'gap', ts: 1_790_000_000_000, dropped: 3 });
    writeFileSync(broken, `${ambiguous(['x'])}no json\n{"v":1}\n${gap}\n`);
    const warnings = [
      '2 lines not accepted (not_json 1, missing_field 1)',
      '3 events written but never arrived: findings may be missing',
      `${empty}: no line was accepted, so nothing in it was checked`,
    ];
    for (const format of ['text', 'junit', 'sarif']) {
      const ended = await tailfin(['check', empty, broken, '--fail-on', 'ambiguous_close', '--format', format]);
      assert.deepEqual(
        linesOf(ended.stderr),
        warnings.map((warning) => `tailfin: warning: ${warning}`),
      );
      assert.equal(ended.code, 1);
      if (format === 'junit') {
        const [suite] = childrenOf(parseXml(ended.stdout), 'testsuite');
        assert.deepEqual(linesOf(childrenOf(suite as XmlElement, 'system-err')[0]?.text ?? ''), warnings);
      } else if (format === 'sarif') {
        const [invocation] = sarifRun(ended.stdout).invocations;
        assert.deepEqual(
          invocation?.toolExecutionNotifications.map(({ message }) => message.text),
          warnings,
        );
      }
    }
  });
});

/** All findings of a file as `replay` prints them. */
async function findingsOf(file: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await tailfin(['replay', file, '--format', 'json']);
  return linesOf(stdout)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ record }) => record === 'finding');
}

describe('formats', () => {
  for (const name of ['masked-by-rotation', 'length-correlated-parse']) {
    test(`${name}: goldens, and the same findings in all of them`, async () => {
      const expected = await findingsOf(scenario(name));
      assert.ok(expected.length > 0);
      mkdirSync(GOLDENS, { recursive: true });
      const outputs: Record<string, string> = {};
      for (const [format, suffix] of [
        ['text', 'txt'],
        ['junit', 'xml'],
        ['sarif', 'sarif'],
      ] as const) {
        const { stdout, code } = await check(scenario(name), 'all', '--format', format);
        assert.equal(code, 1);
        outputs[format] = stdout;
        const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
        const shown = stdout.replace(`"version": "${version}"`, '"version": "VERSION"');
        const golden = join(GOLDENS, `${name}.${suffix}`);
        if (process.env.UPDATE_GOLDENS === '1') writeFileSync(golden, shown);
        assert.equal(shown, readFileSync(golden, 'utf8'), `${golden} differs; if it is meant: UPDATE_GOLDENS=1`);
      }
      const { results } = sarifRun(outputs.sarif as string);
      const key = (rule: unknown, exchange: unknown) => `${rule} ${exchange ?? ''}`;
      assert.deepEqual(
        results.map(({ ruleId, message }) => key(ruleId, /exchange (\w+)/.exec(message.text)?.[1])).sort(),
        expected.map(({ rule, exchange }) => key(rule, exchange)).sort(),
      );
      const [suite] = childrenOf(parseXml(outputs.junit as string), 'testsuite');
      const failed = childrenOf(suite as XmlElement, 'testcase').filter(
        (each) => childrenOf(each, 'failure').length > 0,
      );
      assert.deepEqual(
        failed.map(({ attributes }) => attributes.name).sort(),
        [...new Set(expected.map(({ rule }) => rule))].sort(),
      );
      assert.equal(suite?.attributes.failures, String(failed.length));
      assert.equal(suite?.attributes.tests, String(BUILT.length));
    });
  }

  test('every finding points at the line that its exchange stands on', async () => {
    const file = scenario('unsafe-replay');
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    const { results } = sarifRun((await check(file, 'all', '--format', 'sarif')).stdout);
    assert.ok(results.length > 3);
    for (const { locations } of results) {
      const [at] = locations;
      assert.equal(at?.physicalLocation?.artifactLocation.uri, file);
      const line = JSON.parse(lines[(at?.physicalLocation?.region?.startLine as number) - 1] as string);
      assert.equal(line.exchange, at?.logicalLocations[0]?.name);
    }
  });

  test('the rules are described by the words of the table of detectors', async () => {
    const { tool } = sarifRun((await check(scenario('cut-json'), 'all', '--format', 'sarif')).stdout);
    assert.deepEqual(
      tool.driver.rules.map(({ id, shortDescription }) => [id, shortDescription.text]),
      DETECTORS.map(({ rule, fires }) => [rule, `Fires when ${fires.replaceAll('`', '')}.`]),
    );
  });

  test('fingerprints: one each, the same in the next run, and when ids, lines and times are others', async (t) => {
    const file = join(tempFolder(t), 'a.ndjson');
    const prints = async (content: string) => {
      writeFileSync(file, content);
      const { results } = sarifRun((await check(file, 'all', '--format', 'sarif')).stdout);
      return results.map(({ partialFingerprints }) => partialFingerprints);
    };
    const first = await prints(ambiguous(['a', 'b', 'c']));
    assert.equal(new Set(first.map((each) => each.primaryLocationLineHash)).size, first.length);
    assert.equal(new Set(first.map((each) => each['tailfinFinding/v1'])).size, first.length);
    assert.deepEqual(await prints(ambiguous(['a', 'b', 'c'])), first);
    const other = await prints(`\n${ambiguous(['p', 'q', 'r'])}`);
    assert.deepEqual(
      other.map((each) => each.primaryLocationLineHash),
      first.map((each) => each.primaryLocationLineHash),
    );
    assert.notDeepEqual(other, first);
  });

  test('the schema refuses what is no SARIF', () => {
    assert.notDeepEqual(sarifErrors({ version: '2.1.0' }), []);
    assert.notDeepEqual(sarifErrors({ version: '2.1.0', runs: [{ results: [{}] }] }), []);
  });

  test('more findings than are listed: counted, and said', async () => {
    const stdin = ambiguous(Array.from({ length: 507 }, (_, i) => `x${i}`));
    const run = async (format: string) =>
      (await tailfin(['check', '-', '--fail-on', 'ambiguous_close', '--format', format], { stdin })).stdout;
    assert.match(await run('text'), /ambiguous_close: 507 findings\n(.*\n){11} +and 497 more findings\n/);
    const sarif = sarifRun(await run('sarif'));
    assert.equal(sarif.results.length, 500);
    assert.match(sarif.invocations[0]?.toolExecutionNotifications[0]?.message.text ?? '', /7 more findings not listed/);
    const junit = await run('junit');
    assert.match(junit, /message="507 findings of ambiguous_close"/);
    assert.match(junit, /\nand 7 more findings\n<\/failure>/);
  });
});

describe('names from outside', () => {
  const NAMES = [
    'a]]>b<c>&amp;"\'',
    'line\nend\r\tand\u0000nul\u001b[31mred',
    'half \ud800 pair, \ufffe \uffff, \u2028 and \u202e',
    'Zürich 東京 😀',
  ];
  const python = spawnSync('python3', ['-c', 'import xml.etree.ElementTree'], { encoding: 'utf8' }).status === 0;

  for (const format of ['text', 'junit', 'sarif'])
    test(`${format}: one line each, nothing that a terminal or a parser would obey`, async (t) => {
      const folder = join(tempFolder(t), 'a <b> & "c" %41#?é');
      mkdirSync(folder);
      const file = join(folder, "it's.ndjson");
      writeFileSync(file, NAMES.map((name, i) => ambiguous([name], { server: name, args_digest: `n${i}` })).join(''));
      const { stdout, code } = await check(file, 'ambiguous_close', '--format', format);
      assert.equal(code, 1);
      assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\p{Cs}\u2028\u202e\ufffe\uffff]/u);
      if (format === 'text')
        assert.equal(linesOf(stdout).filter((line) => line.startsWith('    ')).length, NAMES.length);
      if (format === 'sarif') {
        const { results } = sarifRun(stdout);
        assert.equal(results.length, NAMES.length);
        assert.ok(results.some(({ message }) => message.text.includes('Zürich 東京 😀')));
        assert.equal(fileURLToPath(results[0]?.locations[0]?.physicalLocation?.artifactLocation.uri ?? ''), file);
      }
      if (format !== 'junit') return undefined;
      const root = parseXml(stdout);
      const [suite] = childrenOf(root, 'testsuite');
      const [only] = childrenOf(suite as XmlElement, 'testcase');
      assert.equal(only?.attributes.file, file);
      const lines = linesOf(childrenOf(only as XmlElement, 'failure')[0]?.text ?? '');
      assert.equal(lines.length, 1 + NAMES.length);
      assert.ok(lines[1]?.includes(NAMES[0] as string), 'markup comes back as it was');
      if (!python) return t.skip('skipped: needs python3');
      const script =
        'import sys, xml.etree.ElementTree as E; print(len(E.fromstring(sys.stdin.buffer.read()).findall("testsuite/testcase/failure")))';
      const read = spawnSync('python3', ['-c', script], { input: stdout, encoding: 'utf8' });
      assert.equal(read.stdout, '1\n', read.stderr);
      return undefined;
    });

  test('a file below the working folder is named relative to it, another one by its URI', async (t) => {
    const folder = tempFolder(t);
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'in', 'x y.ndjson'), ambiguous(['x']));
    const uris = async (...files: readonly string[]) => {
      const args = ['check', ...files, '--fail-on', 'all', '--format', 'sarif'];
      const { results } = sarifRun((await tailfin(args, { cwd: join(folder, 'in') })).stdout);
      return [...new Set(results.map(({ locations }) => locations[0]?.physicalLocation?.artifactLocation.uri))];
    };
    assert.deepEqual(await uris('x y.ndjson'), ['x%20y.ndjson']);
    assert.deepEqual(await uris(join(folder, 'in', 'x y.ndjson')), ['x%20y.ndjson']);
    writeFileSync(join(folder, 'out.ndjson'), ambiguous(['x']));
    assert.deepEqual(await uris('../out.ndjson'), [`file://${folder}/out.ndjson`]);
  });
});
