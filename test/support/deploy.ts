/** The files of deploy/, read as what they are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { ROOT } from './cli.ts';

export const EXAMPLES = join(ROOT, 'deploy/examples');

/** One YAML document; a key that stands twice, or anything else the parser warns of, is an error. */
export function readYaml<T>(path: string): T {
  const document = parseDocument(readFileSync(path, 'utf8'), { uniqueKeys: true });
  assert.deepEqual([...document.errors, ...document.warnings], [], path);
  return document.toJS() as T;
}

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const readRules = (): Rule[] =>
  readYaml<{ groups: { name: string; rules: Rule[] }[] }>(join(EXAMPLES, 'rules.yaml')).groups.flatMap(
    ({ rules }) => rules,
  );
