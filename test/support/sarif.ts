/**
 * The public JSON Schema of SARIF 2.1.0 as a check. sarif-2.1.0-rtm.5.json is the schema of schemastore.org (its `id` names the place),
 * taken unchanged from the npm package @microsoft/jest-sarif 1.0.0-beta.0 (MIT), whose other dependencies nothing here needs.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

export interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation?: {
      readonly artifactLocation: { readonly uri: string };
      readonly region?: { readonly startLine: number };
    };
    readonly logicalLocations: readonly { readonly name: string }[];
  }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}
export interface SarifRun {
  readonly tool: { readonly driver: { readonly rules: readonly { id: string; shortDescription: { text: string } }[] } };
  readonly invocations: readonly {
    readonly exitCode: number;
    readonly toolExecutionNotifications: readonly { readonly message: { readonly text: string } }[];
  }[];
  readonly results: readonly SarifResult[];
}

// Of draft 04: `id` is the one keyword in it that the later draft spells otherwise.
const {
  id: _,
  $schema: __,
  ...schema
} = JSON.parse(readFileSync(new URL('sarif-2.1.0-rtm.5.json', import.meta.url), 'utf8'));
// One of its patterns has a stray bracket, which only the older syntax of expressions allows.
const ajv = new Ajv({ allErrors: true, strictTypes: false, unicodeRegExp: false });
addFormats.default(ajv);
const validate = ajv.compile(schema);

export const sarifErrors = (log: unknown): string[] =>
  validate(log) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

/** The one run of a valid log. */
export function sarifRun(text: string): SarifRun {
  const log = JSON.parse(text);
  assert.deepEqual(sarifErrors(log), []);
  assert.equal(log.runs.length, 1);
  return log.runs[0] as SarifRun;
}
