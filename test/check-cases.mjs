#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
// Replays every case folder below DIR and checks its expect.txt.
// usage: check-cases.mjs DIR -- COMMAND [ARG...]      e.g. check-cases.mjs ../shared/cases -- node dist/main.js
// COMMAND is called as `COMMAND replay --format prom|json events.ndjson [--config tailfin.yaml, where the case has one]`.
// expect.txt, one check a line (# starts a comment):
//   metric{label="value",...} N      the sum of all samples that carry these labels equals N (N may be >=N or <=N, or ~N for within 1 %);
//                                    the exposition must know the metric (a sample or a # TYPE line), so a misspelt name never passes as 0
//   sample metric{label="value",...} at least one such sample is exposed, whatever its value (zero-initialised series)
//   verdict key=value ...            exactly one verdict record carries all of these (exchange=... is usual)
//   operation key=value ...          at least one operation record carries all of these
//   finding key=value ...            at least one finding record carries all of these
//   no finding key=value ...         none does (also: no operation ..., no verdict ...)
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

function replay(command, folder, format) {
  const args = [...command.slice(1), 'replay', '--format', format, join(folder, 'events.ndjson')];
  const config = join(folder, 'tailfin.yaml');
  if (existsSync(config)) args.push('--config', config);
  const run = spawnSync(command[0], args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 60_000 });
  if (run.status !== 0)
    throw new Error(
      `replay --format ${format} exited ${run.status ?? run.signal}: ${(run.stderr || run.error?.message || '').trim().slice(0, 300)}`,
    );
  return run.stdout;
}

/** The samples of an exposition, and every metric that it knows. */
export function parseProm(text) {
  const known = new Set();
  const samples = [];
  for (const line of text.split('\n')) {
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) /.exec(line);
    if (type) known.add(type[1]);
    const m = /^([a-zA-Z_:][\w:]*)(?:\{(.*?)\})?\s+([-+0-9.eEInfNa]+)/.exec(line);
    if (!m || line.startsWith('#')) continue;
    known.add(m[1]);
    samples.push({ name: m[1], labels: parseLabels(m[2] ?? ''), value: Number(m[3].replace('+Inf', 'Infinity')) });
  }
  return { known, samples };
}

function parseLabels(text) {
  const labels = {};
  for (const m of text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g))
    labels[m[1]] = m[2].replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
  return labels;
}

const carries = (labels, wanted) => Object.entries(wanted).every(([k, v]) => String(labels[k] ?? '') === v);

/** The checks of an expect.txt, one a line. */
export const checksOf = (text) =>
  text
    .split('\n')
    .map((raw) => raw.replace(/(^|\s)#.*$/, '').trim())
    .filter(Boolean);

/** null: the check holds; else what is wrong. */
export function checkLine(line, { known, samples }, records) {
  const record = /^(no )?(verdict|operation|finding)\s+(.*)$/.exec(line);
  if (record) {
    const wanted = Object.fromEntries(
      record[3].split(/\s+/).map((p) => [p.slice(0, p.indexOf('=')), p.slice(p.indexOf('=') + 1)]),
    );
    const hits = records.filter((r) => r.record === record[2] && carries(r, wanted));
    if (record[1]) return hits.length === 0 ? null : `${hits.length} found, none expected`;
    if (record[2] === 'verdict') {
      if (hits.length === 1) return null;
      const near = records
        .filter((r) => r.record === 'verdict' && (!wanted.exchange || r.exchange === wanted.exchange))
        .slice(0, 2);
      return `${hits.length} match; there is ${JSON.stringify(near).slice(0, 300)}`;
    }
    return hits.length > 0 ? null : `none found among ${records.filter((r) => r.record === record[2]).length}`;
  }
  const exposed = /^sample\s+([a-zA-Z_:][\w:]*)(?:\{(.*)\})?$/.exec(line);
  if (exposed)
    return samples.some((s) => s.name === exposed[1] && carries(s.labels, parseLabels(exposed[2] ?? '')))
      ? null
      : 'no such sample is exposed';
  const m = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(>=|<=|~)?(-?[0-9.eE+]+)$/.exec(line);
  if (!m) return 'this check is not understood';
  const wanted = parseLabels(m[2] ?? '');
  const sum = samples.filter((s) => s.name === m[1] && carries(s.labels, wanted)).reduce((a, s) => a + s.value, 0);
  if (!known.has(m[1])) return 'the exposition does not know this metric';
  const n = Number(m[4]);
  const ok =
    m[3] === '>='
      ? sum >= n
      : m[3] === '<='
        ? sum <= n
        : m[3] === '~'
          ? Math.abs(sum - n) <= Math.abs(n) * 0.01
          : Math.abs(sum - n) < 1e-9;
  return ok ? null : `is ${sum}`;
}

function checkFolder(command, folder) {
  try {
    const exposition = parseProm(replay(command, folder, 'prom'));
    const records = replay(command, folder, 'json')
      .split('\n')
      .filter(Boolean)
      .map((l) => JSON.parse(l));
    return checksOf(readFileSync(join(folder, 'expect.txt'), 'utf8')).flatMap((line) => {
      const problem = checkLine(line, exposition, records);
      return problem ? [`${line}: ${problem}`] : [];
    });
  } catch (error) {
    return [error.message];
  }
}

/** Folders below `dir` that hold a case. */
export const casesIn = (dir) =>
  readdirSync(dir)
    .sort()
    .map((f) => join(dir, f))
    .filter((f) => statSync(f).isDirectory() && existsSync(join(f, 'expect.txt')));

function main() {
  const split = process.argv.indexOf('--');
  if (split < 3 || split === process.argv.length - 1) {
    console.error('usage: check-cases.mjs DIR -- COMMAND [ARG...]');
    process.exit(2);
  }
  const command = process.argv.slice(split + 1);
  let passed = 0;
  let failed = 0;
  for (const folder of casesIn(process.argv[2])) {
    const problems = checkFolder(command, folder);
    if (problems.length > 0) failed++;
    else passed++;
    console.log(`${problems.length > 0 ? 'FAIL' : 'ok  '} ${folder}`);
    for (const problem of problems) console.log(`     ${problem}`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed || passed === 0 ? 1 : 0);
}

// Also imported by test/scenarios.test.ts, which holds the very same checks against the source.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();
