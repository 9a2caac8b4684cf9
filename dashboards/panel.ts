/**
 * Panels as plain data, and the one place where they become Grafana's: the house factories set what the SDK leaves unset (ids, legends,
 * tooltips, reduce functions, thresholds). What a board asks and says stands in boards/.
 */
import { createHash } from 'node:crypto';
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type * as cog from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { CATALOG, type MetricSpec } from '../src/core/measures/catalog.ts';
import { COLOURS, FINE, NO_NUMBER, PLAIN, type Steps } from './look.ts';
import { BOARDS, type BoardKey, linkTo, linkToServer } from './names.ts';

export interface Target {
  readonly expr: string;
  readonly legend: string;
}

interface Shared {
  readonly title: string;
  /** What it shows and what to do when it looks bad. */
  readonly description: string;
  readonly unit: string;
  readonly width: number;
  readonly height?: number;
  /** Said in the place of a value. */
  readonly noValue: string;
  readonly decimals?: number;
  /** One click down. */
  readonly to?: BoardKey;
}
export interface StatPanel extends Shared {
  readonly kind: 'stat';
  /** An instant query over the whole range of the board. */
  readonly targets: readonly Target[];
  readonly steps: Steps;
}
export interface LinesPanel extends Shared {
  readonly kind: 'lines';
  readonly targets: readonly Target[];
  readonly stack?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** The threshold of the alert, as a line. */
  readonly limit?: number;
  readonly exemplars?: boolean;
}
export interface BarsPanel extends Shared {
  readonly kind: 'bars';
  /** One bar each, from top to bottom. */
  readonly targets: readonly Target[];
  readonly steps: Steps;
  readonly max?: number;
}
export interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit: string;
  readonly steps?: Steps;
  readonly decimals?: number;
}
export interface TablePanel extends Shared {
  readonly kind: 'table';
  /** Labels that make a row, with the titles of their columns. */
  readonly rows: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
}
export type Panel = StatPanel | LinesPanel | BarsPanel | TablePanel;

export const DATASOURCE = { type: 'prometheus', uid: `\${datasource}` } as const;
export const HEIGHT = 9;
const REF_IDS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Stays the same when panels are added before it; viewPanel links hold it. */
export const panelId = (board: string, title: string): number =>
  1 + (createHash('sha256').update(`${board}\n${title}`).digest().readUInt32BE(0) % 1_000_000);

const thresholds = ([base, ...from]: Steps): dashboard.ThresholdsConfigBuilder =>
  new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps([{ value: null as unknown as number, color: base }, ...from.map(([value, color]) => ({ value, color }))]);
const colour = (mode: dashboard.FieldColorModeId): dashboard.FieldColorBuilder =>
  new dashboard.FieldColorBuilder().mode(mode);
const query = ({ expr, legend }: Target, i: number): prometheus.DataqueryBuilder =>
  new prometheus.DataqueryBuilder()
    .refId(REF_IDS[i] as string)
    .datasource(DATASOURCE)
    .expr(expr)
    .legendFormat(legend);
const lastValue = (): common.ReduceDataOptionsBuilder =>
  new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false);
const drill = (board: BoardKey): dashboard.DashboardLinkBuilder =>
  new dashboard.DashboardLinkBuilder(`More: ${BOARDS[board].title.split(' / ')[1]}`)
    .url(linkTo(board))
    .targetBlank(false);

/** What the legend may say, and the word in it that has a colour: the text as it stands, or every value of its one closed label. */
function wordsOf(targets: readonly Target[]): ReadonlyMap<string, string> {
  const specs: readonly MetricSpec[] = Object.values(CATALOG);
  const named = targets.flatMap(({ expr, legend }) => {
    const [, before = '', label, after = ''] = /^([^{]*)\{\{(\w+)\}\}([^{]*)$/.exec(legend) ?? [];
    if (label === undefined) return [[legend, legend] as const];
    return specs
      .filter(({ name }) => new RegExp(`\\b${name}(?:_bucket)?\\{`).test(expr))
      .flatMap(({ labels }) =>
        labels.flatMap(([name, domain]) =>
          name === label && typeof domain !== 'string'
            ? // An empty label is no label; what stands in its place is said by the expression.
              (domain as readonly string[])
                .map((word) => word || FINE)
                .map((word) => [`${before}${word}${after}`, word] as const)
            : [],
        ),
      );
  });
  return new Map(named);
}

function lines(panel: LinesPanel): timeseries.PanelBuilder {
  const { targets, stack = false, min = 0, max, limit, exemplars = false } = panel;
  const builder = new timeseries.PanelBuilder()
    .targets(targets.map((target, i) => query(target, i).range().exemplar(exemplars)))
    .min(min)
    .drawStyle(common.GraphDrawStyle.Line)
    .lineWidth(stack ? 1 : 2)
    .fillOpacity(stack ? 40 : 8)
    .showPoints(common.VisibilityMode.Never)
    .spanNulls(false)
    .stacking(
      new common.StackingConfigBuilder().mode(stack ? common.StackingMode.Normal : common.StackingMode.None).group('A'),
    )
    .colorScheme(colour(dashboard.FieldColorModeId.PaletteClassic))
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max'])
        .sortBy('Max')
        .sortDesc(true),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    );
  if (max !== undefined) builder.max(max);
  builder.thresholds(thresholds(limit === undefined ? ['green'] : ['transparent', [limit, 'red']]));
  if (limit !== undefined)
    builder.thresholdsStyle(
      new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed),
    );
  for (const [name, word] of wordsOf(targets)) {
    const fixedColor = COLOURS[word as keyof typeof COLOURS];
    if (fixedColor !== undefined) builder.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  return builder;
}

function single({ targets, steps }: StatPanel): stat.PanelBuilder {
  const builder = new stat.PanelBuilder()
    .targets(targets.map((target, i) => query(target, i).instant()))
    .reduceOptions(lastValue())
    .graphMode(common.BigValueGraphMode.None)
    .colorMode(common.BigValueColorMode.Value)
    .justifyMode(common.BigValueJustifyMode.Auto)
    .textMode(targets.length > 1 ? common.BigValueTextMode.ValueAndName : common.BigValueTextMode.Value)
    .colorScheme(colour(dashboard.FieldColorModeId.Thresholds))
    .thresholds(thresholds(steps));
  // Side by side each would be as large as its own name and number let it.
  if (targets.length > 1) builder.text(new common.VizTextDisplayOptionsBuilder().titleSize(14).valueSize(40));
  return builder;
}

function bars({ targets, steps, max }: BarsPanel): bargauge.PanelBuilder {
  const builder = new bargauge.PanelBuilder()
    .targets(targets.map((target, i) => query(target, i).instant()))
    .reduceOptions(lastValue())
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .orientation(common.VizOrientation.Horizontal)
    .valueMode(common.BarGaugeValueMode.Color)
    .showUnfilled(true)
    .namePlacement(common.BarGaugeNamePlacement.Left)
    // Room for names is measured at this size: a larger one cuts them off.
    .text(new common.VizTextDisplayOptionsBuilder().titleSize(12).valueSize(18))
    .sizing(common.BarGaugeSizing.Auto)
    .min(0)
    .colorScheme(colour(dashboard.FieldColorModeId.Thresholds))
    .thresholds(thresholds(steps));
  return max === undefined ? builder : builder.max(max);
}

function rowsOf(panel: TablePanel): table.PanelBuilder {
  const { columns, rows, to } = panel;
  const several = columns.length > 1;
  const builder = new table.PanelBuilder()
    .targets(
      columns.map(({ expr }, i) => query({ expr, legend: '' }, i).instant().format(prometheus.PromQueryFormat.Table)),
    )
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(
          [...Object.keys(rows), ...columns.map((_, i) => valueField(i, several))].map((name, i) => [name, i]),
        ),
        renameByName: {},
      },
    })
    .showHeader(true)
    .cellHeight(common.TableCellHeight.Sm)
    .sortBy([new common.TableSortByFieldStateBuilder().displayName(columns[0]?.title ?? '').desc(true)])
    .colorScheme(colour(dashboard.FieldColorModeId.Thresholds))
    .thresholds(thresholds(PLAIN));
  for (const [label, title] of Object.entries(rows)) {
    const link =
      to !== undefined && label === 'server'
        ? [{ id: 'links', value: [{ title: `This server: ${BOARDS[to].title}`, url: linkToServer(to) }] }]
        : [];
    builder.overrideByName(label, [{ id: 'displayName', value: title }, ...link]);
  }
  for (const [i, { title, unit, steps, decimals }] of columns.entries())
    builder.overrideByName(valueField(i, several), [
      { id: 'displayName', value: title },
      { id: 'unit', value: unit },
      { id: 'mappings', value: [NO_NUMBER] },
      ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
      ...(steps === undefined
        ? []
        : [
            { id: 'thresholds', value: thresholds(steps).build() },
            { id: 'custom.cellOptions', value: { type: 'color-text' } },
          ]),
    ]);
  return builder;
}
const valueField = (i: number, several: boolean): string => (several ? `Value #${REF_IDS[i]}` : 'Value');

/** A panel of Grafana, without its place. */
export function toGrafana(board: string, panel: Panel): cog.Builder<dashboard.Panel> & PlacedBuilder {
  const builder =
    panel.kind === 'lines'
      ? lines(panel)
      : panel.kind === 'stat'
        ? single(panel)
        : panel.kind === 'bars'
          ? bars(panel)
          : rowsOf(panel);
  builder
    .id(panelId(board, panel.title))
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .noValue(panel.noValue);
  if (panel.decimals !== undefined) builder.decimals(panel.decimals);
  if (panel.to !== undefined) builder.links([drill(panel.to)]);
  return builder;
}
interface PlacedBuilder {
  gridPos(position: dashboard.GridPos): unknown;
}
