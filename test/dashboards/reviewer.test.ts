/**
 * What reviewers of dashboards and rules check, as far as it can be seen in the files: the rules of grafana/dashboard-linter by their names
 * (ported: it cannot be built here), and a list of our own. What is left out stands in EXCLUDED with its reason. Rules: pint.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { COLOURS, FINE } from '../../dashboards/look.ts';
import { readSettings } from '../../dashboards/settings.ts';
import { legendLabels } from '../../dashboards/verify/check.ts';
import { selectorsOf, syntaxErrors } from '../../dashboards/verify/promql.ts';
import {
  type BoardJson,
  type PanelJson,
  panelsOf,
  readBoards,
  type TargetJson,
} from '../../dashboards/verify/read-boards.ts';
import { CATALOG, type MetricSpec } from '../../src/core/measures/catalog.ts';
import { added, COUNTERS } from './metric-kinds.ts';

/** Rules that do not fit, and why. */
const EXCLUDED: Readonly<Record<string, string>> = {
  'template-job-rule':
    'the job is one setting for boards and rules alike (dashboards/settings.json): a choice of it could only go wrong',
  'template-instance-rule': 'people know pods, not addresses: the variable is pod',
  'target-job-rule': 'every selector has the job of the settings, tested below',
  'target-instance-rule': 'every selector has the pod, tested below',
  'target-logql-rule': 'there are no logs',
  'target-logql-auto-rule': 'there are no logs',
  'pint alerts/count': 'needs the history of a Prometheus',
  'pint promql/series': 'asked of a real Prometheus: verify.test.ts',
};

const boards = readBoards();
const settings = readSettings();
const specs: readonly MetricSpec[] = Object.values(CATALOG);
const UNITS = new Set<unknown>(Object.values(units));
/** Queries of a board with their panel. */
const targetsOf = (board: BoardJson): readonly (readonly [PanelJson, TargetJson])[] =>
  panelsOf(board).flatMap((panel) => (panel.targets ?? []).map((target) => [panel, target] as const));

type Rule = (board: BoardJson) => readonly string[];
const perPanel =
  (faults: (panel: PanelJson) => string | null): Rule =>
  (board) =>
    panelsOf(board).flatMap((panel) => {
      const fault = faults(panel);
      return fault === null ? [] : [`${panel.title}: ${fault}`];
    });
const perTarget =
  (faults: (target: TargetJson, panel: PanelJson) => readonly string[]): Rule =>
  (board) =>
    targetsOf(board).flatMap(([panel, target]) =>
      faults(target, panel).map((fault) => `${panel.title} ${target.refId}: ${fault}`),
    );

const LINTER: Readonly<Record<string, Rule>> = {
  'template-datasource-rule': ({ templating: { list } }) => {
    const found = list.filter(({ type }) => type === 'datasource');
    const [first] = found;
    return found.length === 1 &&
      first?.name === 'datasource' &&
      first.label === 'Data source' &&
      first.query === 'prometheus'
      ? []
      : ['exactly one, named datasource, labelled Data source'];
  },
  'template-label-promql-rule': ({ templating: { list } }) =>
    list
      .filter(({ type }) => type === 'query')
      .filter(({ query }) => {
        const text = typeof query === 'string' ? query : query.query;
        const [, inner = ''] = /^label_values\((.+), \w+\)$/.exec(text) ?? [];
        return inner === '' || syntaxErrors(inner).length > 0;
      })
      .map(({ name }) => name),
  'template-on-time-change-reload-rule': ({ templating: { list } }) =>
    list.filter(({ type, refresh }) => type === 'query' && refresh !== 2).map(({ name }) => name),
  'panel-datasource-rule': perPanel(({ datasource, targets = [] }) =>
    [datasource, ...targets.map((target) => target.datasource)].every((each) => each?.uid === `\${datasource}`)
      ? null
      : 'not the variable',
  ),
  'panel-title-description-rule': perPanel(({ title, description = '' }) =>
    title !== '' && description.length > 4 ? null : 'says nothing',
  ),
  'panel-units-rule': perPanel(({ fieldConfig }) => {
    const columns = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
      properties.filter(({ id }) => id === 'unit').map(({ value }) => value),
    );
    return [fieldConfig?.defaults.unit, ...columns].every((unit) => UNITS.has(unit)) ? null : 'no known unit';
  }),
  'panel-no-targets-rule': perPanel(({ targets = [] }) => (targets.length > 0 ? null : 'no queries')),
  'target-promql-rule': perTarget(({ expr }) => syntaxErrors(expr)),
  'target-rate-interval-rule': perTarget(({ expr }) => {
    const rates = [...expr.matchAll(/\b(?:rate|irate)\([^[]*\[([^\]]+)\]/g)].map(([, range]) => range as string);
    // Ratios of rates over a window that is said in the panel's text are no graphs of a rate.
    return rates.filter((range) => range !== '$__rate_interval' && !/^(?:10m|\$__range)$/.test(range));
  }),
  'target-counter-agg-rule': perTarget(({ expr }) =>
    selectorsOf(expr)
      .filter(
        ({ metric, inside }) =>
          COUNTERS.has(metric) && !inside.some((name) => ['rate', 'irate', 'increase'].includes(name)),
      )
      .map(({ metric }) => metric),
  ),
  'uneditable-dashboard': ({ editable }) => (editable ? ['it can be edited'] : []),
};

/** Beyond the linter: what a good reviewer would ask for. */
const REVIEW: Readonly<Record<string, Rule>> = {
  'a stable address and a fixed schema': ({ id, uid, schemaVersion }) =>
    id === null && /^[a-z-]{5,40}$/.test(uid) && schemaVersion === 42 ? [] : [`${id} ${uid} ${schemaVersion}`],
  'one look at a time: crosshair, UTC, refresh, tags': ({ graphTooltip, timezone, refresh, tags }) =>
    graphTooltip === 1 && timezone === 'utc' && refresh !== '' && tags.includes('tailfin') ? [] : ['not set'],
  'links to the other boards keep variables and time': ({ links, uid }) =>
    links.length === boards.length - 1 &&
    links.every(({ url, includeVars, keepTime }) => includeVars && keepTime && url !== `/d/${uid}`)
      ? []
      : ['links'],
  'variables in their order, chained, with `.*` for all': ({ templating: { list } }) => {
    const names = list.map(({ name }) => name);
    const chained = list.slice(1).every(({ query, allValue, multi, includeAll }, i) => {
      const text = typeof query === 'string' ? query : query.query;
      return (
        allValue === '.*' &&
        multi &&
        includeAll &&
        names.slice(1, i + 1).every((before) => text.includes(`=~"$${before}"`))
      );
    });
    return names.join() === 'datasource,cluster,namespace,pod,server' && chained ? [] : [names.join()];
  },
  'annotations ask the chosen data source': ({ annotations: { list } }) =>
    list.filter(({ datasource }) => datasource.uid !== `\${datasource}`).map(({ name }) => name),
  'ids and titles are unique, at most 25 panels are open': (board) => {
    const all = [...board.panels, ...panelsOf(board)];
    const ids = new Set(all.map(({ id }) => id));
    const titles = panelsOf(board).map(({ title }) => title);
    const seen = new Set(all);
    const visible = board.panels.filter(({ type }) => type !== 'row').length;
    return ids.size === seen.size &&
      new Set(titles).size === titles.length &&
      visible <= 25 &&
      [...ids].every((id) => id > 0)
      ? []
      : [`${ids.size} ids, ${seen.size} panels, ${visible} open`];
  },
  'nothing overlaps or leaves the grid': (board) => {
    const spots = new Map<string, string>();
    const found: string[] = [];
    const top = board.panels.filter(({ type }) => type === 'row' || panelsOf(board).length > 0);
    for (const {
      title,
      gridPos: { x, y, w, h },
    } of top)
      for (let i = x; i < x + w; i++)
        for (let j = y; j < y + h; j++) {
          const spot = `${i},${j}`;
          if (spots.has(spot) || i > 23) found.push(`${title} on ${spots.get(spot) ?? 'the edge'}`);
          spots.set(spot, title);
        }
    return [...new Set(found)];
  },
  'every selector has the job and the variables of its place': perTarget(({ expr }) =>
    selectorsOf(expr)
      .filter(({ metric, matchers }) => {
        const has = (label: string): boolean => matchers.some((each) => each.label === label);
        const needsServer = specs.some(
          ({ name, labels }) => metric.startsWith(name) && labels.some(([label]) => label === 'server'),
        );
        return !(
          expr.includes(settings.job) &&
          ['job', 'cluster', 'namespace', 'pod'].every(has) &&
          (!needsServer || has('server'))
        );
      })
      .map(({ metric }) => metric),
  ),
  'a text where there is no value': perPanel(({ fieldConfig }) =>
    (fieldConfig?.defaults.noValue ?? '') === '' ? 'no noValue' : null,
  ),
  'stats, bars and tables ask once, and have colours': perPanel(({ type, targets = [], fieldConfig }) =>
    type === 'timeseries' ||
    (targets.every(({ instant }) => instant === true) && (fieldConfig?.defaults.thresholds?.steps.length ?? 0) > 0)
      ? null
      : 'a range query, or no thresholds',
  ),
  'graphs begin at a fixed value and have a legend with numbers': perPanel(({ type, fieldConfig, options }) =>
    type !== 'timeseries' ||
    (typeof fieldConfig?.defaults.min === 'number' &&
      options?.legend?.showLegend === true &&
      (options.legend.calcs?.length ?? 0) > 0)
      ? null
      : 'not set',
  ),
  'a text without a value claims nothing: it may be that nobody looked': perPanel(({ fieldConfig }) =>
    /^(?:all|nothing failed|only|ok|no (?:errors|findings|failures))/.test(fieldConfig?.defaults.noValue ?? '')
      ? (fieldConfig?.defaults.noValue ?? '')
      : null,
  ),
  'a number that a table lacks has no colour and is no word': perPanel(({ type, fieldConfig }) =>
    type !== 'table' ||
    (fieldConfig?.overrides ?? []).every(
      ({ properties }) =>
        !properties.some(({ id }) => id === 'unit') ||
        properties.some(({ id, value }) => id === 'mappings' && /"null".*"\u2013".*"text"/.test(JSON.stringify(value))),
    )
      ? null
      : 'no mapping of null',
  ),
  'counts are written out: 3,642 and not 4 K': perPanel(({ fieldConfig }) => {
    const isCount = (unit: unknown, decimals: unknown): boolean => unit === 'short' && decimals === 0;
    const { unit, decimals } = fieldConfig?.defaults ?? {};
    const columns = (fieldConfig?.overrides ?? []).map(({ properties }) =>
      Object.fromEntries(properties.map(({ id, value }) => [id, value])),
    );
    return isCount(unit, decimals) || columns.some((each) => isCount(each.unit, each.decimals)) ? 'short' : null;
  }),
  'a title has the room that its panel gives it': perPanel(({ title, gridPos: { w } }) =>
    title.length <= 10 * w - 8 ? null : `${title.length} characters in ${w} columns`,
  ),
  'names of bars have the room that is measured for them': perPanel(({ type, options }) =>
    type !== 'bargauge' || options?.text?.titleSize === 12 ? null : `${options?.text?.titleSize}`,
  ),
  'times and parts of several pods are not added up': perTarget(({ expr }) => added(expr)),
  'a word has its one colour in every graph': perPanel(({ type, title, targets = [], fieldConfig }) => {
    if (type !== 'timeseries') return null;
    const coloured = new Map(
      (fieldConfig?.overrides ?? []).map(({ matcher, properties }) => [
        matcher.options,
        (properties.find(({ id }) => id === 'color')?.value as { readonly fixedColor?: string } | undefined)
          ?.fixedColor,
      ]),
    );
    for (const { expr, legendFormat = '' } of targets) {
      const [label] = legendLabels(legendFormat);
      if (label === undefined || legendLabels(legendFormat).length !== 1) continue;
      const asked = selectorsOf(expr).map(({ metric }) => metric.replace(/_bucket$/, ''));
      for (const { labels } of specs.filter(({ name }) => asked.includes(name)))
        for (const [name, domain] of labels)
          if (name === label && typeof domain !== 'string')
            for (const value of domain as readonly string[]) {
              const word = value || FINE;
              const shown = legendFormat.replace(/\{\{\w+\}\}/, word);
              const wanted = COLOURS[word as keyof typeof COLOURS];
              if (coloured.get(shown) !== wanted) return `${title}: ${shown} is ${coloured.get(shown)}, not ${wanted}`;
            }
    }
    return null;
  }),
  'no topk in a graph': perTarget(({ expr, range }) =>
    range === true && /\b(?:top|bottom)k\b/.test(expr) ? [expr] : [],
  ),
  'panels of the first board lead one board down': (board) =>
    board.uid !== 'tailfin-hidden'
      ? []
      : board.panels
          .filter(
            ({ type, links = [] }) =>
              type !== 'row' && !links.some(({ url }) => /^\/d\/tailfin-\w+\?.*__url_time_range/.test(url)),
          )
          .map(({ title }) => title),
};

for (const board of boards)
  describe(board.title, () => {
    for (const [name, rule] of Object.entries({ ...LINTER, ...REVIEW }))
      test(name, () => assert.deepEqual(rule(board), []));
  });

test('all seventeen rules of the linter are here or excluded', () => {
  const names = [...Object.keys(LINTER), ...Object.keys(EXCLUDED).filter((name) => !name.startsWith('pint'))];
  assert.equal(new Set(names).size, 17);
});

test('the rules find what they are about', () => {
  const [board] = boards as [BoardJson];
  const bare = {
    ...panelsOf(board)[6],
    description: '',
    targets: [{ refId: 'A', expr: 'sum(rate(tailfin_retries_total[5m])) + tailfin_retries_total +' }],
  };
  const bad = { ...board, editable: true, panels: [bare], templating: { list: [] } } as unknown as BoardJson;
  const silent = [
    'template-label-promql-rule',
    'template-on-time-change-reload-rule',
    'panel-units-rule',
    'panel-no-targets-rule',
  ];
  for (const [name, rule] of Object.entries(LINTER)) if (!silent.includes(name)) assert.ok(rule(bad).length > 0, name);
});
