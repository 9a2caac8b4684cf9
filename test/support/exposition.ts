/** A strict reader of the text exposition format: what it does not understand is an error, so that a broken exposition shows. */
import assert from 'node:assert/strict';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/;
export const NUMBER = /^(?:[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|[-+]Inf|NaN)$/i;

export function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const match = LABEL.exec(rest);
    assert.ok(match, `labels not understood: ${line}`);
    const [all, name, value] = match as unknown as [string, string, string];
    assert.ok(!(name in labels), `label ${name} twice: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
    rest = rest.slice(all.length);
  }
  return labels;
}

export function parseExposition(text: string): Sample[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the exposition must end with a line feed');
  return text.split('\n').flatMap((line) => {
    if (line === '' || /^# (HELP|TYPE) \w+ /.test(line)) return [];
    const match = SAMPLE.exec(line);
    assert.ok(match, `no sample line: ${line}`);
    const [, name, labels = '', value] = match as unknown as [string, string, string | undefined, string];
    assert.match(value, NUMBER, line);
    return [{ name, labels: readLabels(labels, line), value: Number(value.replace('Inf', 'Infinity')) }];
  });
}

/** The sum of all samples of a name that carry these labels. */
export const sumOf = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);

/** The text without the families of these names (their HELP and TYPE lines as well). */
export const withoutFamilies = (text: string, names: readonly string[]): string =>
  text
    .split('\n')
    .filter((line) => !names.some((name) => new RegExp(`^(?:# (?:HELP|TYPE) )?${name}(?:[ {]|$)`).test(line)))
    .join('\n');
