#!/usr/bin/env node
// Judges the output of check-cases.mjs (on stdin) by test/support/later.json: lines of later detectors must fail, all others hold.
// usage: check-cases.mjs DIR -- COMMAND... | allowed-cases.mjs
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const later = JSON.parse(readFileSync(new URL('support/later.json', import.meta.url), 'utf8'));
const lines = readFileSync(0, 'utf8').split('\n');

/** By scenario: the lines that failed, each as `CHECK: what is wrong`. */
const checked = new Map();
let scenario = '';
for (const line of lines) {
  const [, folder] = /^(?:ok {2}|FAIL) (\S.*)$/.exec(line) ?? [];
  if (folder !== undefined) {
    scenario = basename(folder);
    checked.set(scenario, []);
  } else if (line.startsWith('     ')) checked.get(scenario)?.push(line.trim());
}
if (!lines.some((line) => /^\d+ passed, \d+ failed$/.test(line))) {
  console.log('this is no complete output of check-cases.mjs');
  process.exit(1);
}

const problems = [];
for (const [name, failures] of checked) {
  const allowed = later[name] ?? [];
  for (const failure of failures)
    if (!allowed.some((check) => failure.startsWith(`${check}: `))) problems.push(`${name}: ${failure}`);
  for (const check of allowed)
    if (!failures.some((failure) => failure.startsWith(`${check}: `)))
      problems.push(`${name}: ${check}: holds now, take it out of test/support/later.json`);
}
for (const name of Object.keys(later)) if (!checked.has(name)) problems.push(`${name}: was not checked`);

for (const problem of problems) console.log(problem);
const waiting = Object.values(later).flat().length;
console.log(`${checked.size} cases, ${waiting} checks wait for later detectors, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
