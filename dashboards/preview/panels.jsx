/** One panel of a board, drawn with the components of @grafana/ui that Grafana's own panels are made of. */
import { FieldType, getDisplayValueAlignmentFactors, getFieldDisplayValues, VizOrientation } from '@grafana/data';
import { BarGauge, BigValue, LegendDisplayMode, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';

const Nothing = ({ text }) => (
  <div style={{ display: 'grid', placeItems: 'center', height: '100%', opacity: 0.7 }}>{text}</div>
);

const displayed = ({ options, fieldConfig }, data, theme) =>
  getFieldDisplayValues({
    ...{ data, theme, fieldConfig, timeZone: 'utc', replaceVariables: (text) => text },
    reduceOptions: options.reduceOptions,
  });

function Lines({ panel, data, width, height, timeRange }) {
  return (
    <TimeSeries
      {...{ frames: data, width, height, timeRange }}
      timeZone="utc"
      legend={{
        ...panel.options.legend,
        displayMode: LegendDisplayMode.Table,
        placement: 'bottom',
        calcs: panel.options.legend.calcs,
      }}
      options={panel.options}
    />
  );
}

function Stat({ panel, data, width, height, theme }) {
  const values = displayed(panel, data, theme);
  return (
    <VizRepeater
      {...{ width, height, source: values }}
      getValues={() => values}
      orientation={VizOrientation.Vertical}
      autoGrid={true}
      renderValue={({ value: { display }, width: w, height: h }) => (
        <BigValue
          {...{ theme, width: w, height: h, value: display }}
          colorMode={panel.options.colorMode}
          graphMode="none"
          justifyMode="auto"
          textMode={panel.options.textMode}
          text={panel.options.text}
        />
      )}
    />
  );
}

function Bars({ panel, data, width, height, theme }) {
  const values = displayed(panel, data, theme);
  return (
    <VizRepeater
      {...{ width, height, source: values }}
      getValues={() => values}
      getAlignmentFactors={(all) => getDisplayValueAlignmentFactors(all)}
      itemSpacing={8}
      orientation={VizOrientation.Horizontal}
      renderValue={({ value: { display, field, view, colIndex }, width: w, height: h, alignmentFactors }) => (
        <BarGauge
          {...{ theme, field, alignmentFactors, width: w, height: h, value: display }}
          display={view?.getFieldDisplayProcessor(colIndex)}
          displayMode={panel.options.displayMode}
          orientation={VizOrientation.Horizontal}
          showUnfilled={true}
          namePlacement={panel.options.namePlacement}
          text={panel.options.text}
          valueDisplayMode={panel.options.valueMode}
        />
      )}
    />
  );
}

const Table = ({ panel, data, width, height, timeRange }) => (
  <TableNG
    {...{ width, height, timeRange }}
    data={data[0]}
    sortBy={panel.options.sortBy}
    cellHeight="sm"
    enableVirtualization={false}
  />
);

const DRAWN_BY = { timeseries: Lines, stat: Stat, bargauge: Bars, table: Table };

export function Drawn(props) {
  const { panel, data } = props;
  const Draw = DRAWN_BY[panel.type];
  if (Draw === undefined) throw new Error(`nothing draws ${panel.type}`);
  const hasValues = data.some(
    ({ fields, length }) => length > 0 && fields.some(({ type }) => type === FieldType.number),
  );
  return hasValues ? <Draw {...props} /> : <Nothing text={panel.fieldConfig.defaults.noValue} />;
}
