/** Answers of Prometheus as the frames that Grafana's data source would make of them, with the field configuration of the panel applied. */
import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  FieldConfigOptionsRegistry,
  FieldType,
  standardTransformers,
  standardTransformersRegistry,
  toDataFrame,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';

standardTransformersRegistry.setInit(() => {
  const seen = new Set();
  return Object.values(standardTransformers)
    .filter((each) => each?.id !== undefined && !seen.has(each.id) && seen.add(each.id))
    .map((each) => ({ id: each.id, name: each.name, transformation: async () => each }));
});

/** Every option is taken as it stands; Grafana has an editor for each, which nobody needs here. */
const option = (id, path, isCustom) => ({
  ...{ id, path, isCustom, name: id, editor: () => null, override: () => null, settings: {} },
  ...{ process: (value) => value, shouldApply: () => true, getItemsCount: () => 1 },
});
const STANDARD = [
  'unit',
  'decimals',
  'min',
  'max',
  'noValue',
  'displayName',
  'thresholds',
  'mappings',
  'color',
  'links',
];
const CUSTOM = [
  ...[
    'drawStyle',
    'lineWidth',
    'fillOpacity',
    'showPoints',
    'spanNulls',
    'stacking',
    'thresholdsStyle',
    'lineInterpolation',
  ],
  ...['gradientMode', 'pointSize', 'axisPlacement', 'axisSoftMin', 'axisSoftMax', 'cellOptions', 'align', 'width'],
];
const registry = new FieldConfigOptionsRegistry(() => [
  ...STANDARD.map((id) => option(id, id, false)),
  ...CUSTOM.map((id) => option(`custom.${id}`, id, true)),
]);

const legendOf = (format, metric) => format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? '');

/** A frame per series: graphs, and numbers of one moment. */
const seriesFrames = ({ refId, legend, series }, step) =>
  series.map(({ metric, values }) => {
    // A hole in the answer is a hole in the line.
    const points = values.flatMap((point, i) =>
      i > 0 && point[0] - values[i - 1][0] > step * 1.5 ? [[values[i - 1][0] + step, null], point] : [point],
    );
    return toDataFrame({
      refId,
      fields: [
        { name: 'Time', type: FieldType.time, values: points.map(([at]) => at * 1000) },
        {
          name: 'Value',
          type: FieldType.number,
          labels: metric,
          config: { displayNameFromDS: legendOf(legend, metric) },
          // As Grafana does before it draws.
          values: points.map(([, value]) => (Number.isFinite(value) ? value : null)),
        },
      ],
    });
  });

/** One frame for all series: a table. */
function tableFrame({ refId, series }, several) {
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: series.map(({ values }) => values[0][0] * 1000) },
      ...labels.map((name) => ({
        name,
        type: FieldType.string,
        values: series.map(({ metric }) => metric[name] ?? ''),
      })),
      {
        name: several ? `Value #${refId}` : 'Value',
        type: FieldType.number,
        values: series.map(({ values }) => values[0][1]),
      },
    ],
  });
}

export async function framesOf(panel, answers, { step, theme }) {
  const { fieldConfig, transformations = [], type } = panel;
  const several = answers.length > 1;
  const raw =
    type === 'table'
      ? answers.map((answer) => tableFrame(answer, several))
      : answers.flatMap((answer) => seriesFrames(answer, step));
  const transformed = await lastValueFrom(transformDataFrame(transformations, raw));
  const byDefault = { mode: type === 'timeseries' ? 'palette-classic' : 'thresholds' };
  const defaults = { color: byDefault, ...fieldConfig.defaults };
  const frames = applyFieldOverrides({
    data: transformed,
    fieldConfig: { defaults, overrides: fieldConfig.overrides ?? [] },
    fieldConfigRegistry: registry,
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
  });
  // Names that were made before the configuration was known.
  for (const { fields } of frames) for (const field of fields) if (field.state) field.state.displayName = null;
  cacheFieldDisplayNames(frames);
  return frames;
}
