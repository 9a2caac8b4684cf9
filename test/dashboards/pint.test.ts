/** The named checks of pint (cloudflare/pint) on the rules, as far as they can be seen in the files. What is left out stands in reviewer.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { groupsOf } from '../../dashboards/rules/render.ts';
import { readSettings } from '../../dashboards/settings.ts';
import { selectorsOf, syntaxErrors } from '../../dashboards/verify/promql.ts';
import { added, COUNTERS } from './metric-kinds.ts';

const settings = readSettings();

describe('the named checks of pint', () => {
  const { recording, alerting } = groupsOf(settings);
  const groups = [...recording, ...alerting];
  const all = groups.flatMap(({ rules }) => rules);
  const seconds = (text = ''): number =>
    Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600, d: 86_400 }[text.at(-1) as 's'];

  test('promql/syntax, promql/fragile, promql/rate', () => {
    for (const { alert, record, expr } of all) {
      assert.deepEqual(syntaxErrors(expr), [], alert ?? record);
      assert.doesNotMatch(expr, /\b(?:top|bottom)k\b/);
      assert.doesNotMatch(expr, /\b(?:rate|increase)\(sum/);
      for (const { range, metric } of selectorsOf(expr)) {
        if (range !== null)
          assert.ok(seconds(range.slice(1, -1)) >= 4 * 60, `${metric}${range}: four scrapes of a minute`);
        if (COUNTERS.has(metric)) assert.notEqual(range, null, metric);
      }
    }
  });
  test('times and parts of several pods are not added up', () => {
    for (const { alert, record, expr } of all) assert.deepEqual(added(expr), [], alert ?? record);
    assert.deepEqual(added('sum by (pod) (tailfin_source_lag_seconds)'), ['tailfin_source_lag_seconds']);
    assert.deepEqual(added('sum(max by (server) (tailfin_stream_regime))'), []);
  });
  test('promql/regexp: no pattern without a pattern, none with anchors', () => {
    for (const { expr } of all)
      for (const { matchers } of selectorsOf(expr))
        for (const { operator, value } of matchers) {
          if (operator.includes('~')) assert.match(value, /[|.*+]/, value);
          assert.doesNotMatch(value, /^\^|\$$/);
        }
  });
  test('alerts/comparison, alerts/absent, alerts/for', () => {
    for (const { alert, expr, for: hold } of alerting.flatMap(({ rules }) => rules)) {
      assert.match(expr, /[<>]=? |== |absent\(/, alert);
      if (expr.includes('absent(')) assert.ok(seconds(hold) >= 120, alert);
      assert.ok(seconds(hold) > 0, alert);
    }
  });
  test('alerts/template: rates are humanised, no value in labels, labels survive (sync.test.ts)', () => {
    for (const { labels, annotations = {} } of alerting.flatMap(({ rules }) => rules)) {
      assert.doesNotMatch(JSON.stringify(labels), /\{\{/);
      assert.doesNotMatch(annotations.description ?? '', /\{\{ \$value \}\}/);
    }
  });
  test('rule/duplicate, rule/name, group/interval', () => {
    const keys = all.map(({ alert, record, labels }) => `${alert ?? record}${JSON.stringify(labels ?? {})}`);
    assert.equal(new Set(keys).size, keys.length);
    for (const { name, interval } of groups) if (interval !== undefined) assert.ok(seconds(interval) <= 300, name);
  });
  test('promql/vector_matching, promql/nan: a share has a guard against 0', () => {
    for (const { record = '', expr } of all) if (/:ratio_/.test(record)) assert.match(expr, /> 0/, record);
  });
});
