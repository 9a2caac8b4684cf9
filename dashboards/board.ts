/** A board of Grafana from rows of panels: variables, links, annotations and the grid are the same for all. No query of its own but theirs. */
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import { BOARDS, type BoardKey, TAG } from './names.ts';
import { DATASOURCE, HEIGHT, type Panel, panelId, toGrafana } from './panel.ts';
import { type Queries, queries, type Scope } from './queries.ts';
import type { Settings } from './settings.ts';

export interface Row {
  /** null: no heading; the first panels of a board. */
  readonly title: string | null;
  readonly collapsed?: boolean;
  readonly panels: readonly Panel[];
}
export interface Board {
  readonly key: BoardKey;
  readonly description: string;
  readonly rows: readonly Row[];
}

const TARGET = ['cluster=~"$cluster"', 'namespace=~"$namespace"', 'pod=~"$pod"'];
export const boardScope = ({ job }: Settings): Scope => ({ target: [job, ...TARGET], server: ['server=~"$server"'] });

/**
 * The chain of choices. `.*` for all: outside of Kubernetes there is no namespace or pod, and external labels such as the cluster are
 * absent in local queries.
 */
function variables({
  job,
}: Settings): readonly (dashboard.QueryVariableBuilder | dashboard.DatasourceVariableBuilder)[] {
  const chained = (name: string, label: string, series: string): dashboard.QueryVariableBuilder =>
    new dashboard.QueryVariableBuilder(name)
      .label(label)
      .datasource(DATASOURCE)
      .query({ query: `label_values(${series}, ${name})`, refId: `${name}-values` })
      .definition(`label_values(${series}, ${name})`)
      .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
      .sort(dashboard.VariableSort.AlphabeticalCaseInsensitiveAsc)
      .multi(true)
      .includeAll(true)
      .allValue('.*')
      .current({ text: ['All'], value: ['$__all'], selected: true });
  /** Among the targets that the choices so far leave. */
  const among = (choices: number): Queries => queries({ target: [job, ...TARGET.slice(0, choices)], server: [] });
  return [
    new dashboard.DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
    chained('cluster', 'Cluster', among(0).series('build_info')),
    chained('namespace', 'Namespace', among(1).series('build_info')),
    chained('pod', 'Pod', among(2).series('build_info')),
    chained('server', 'Server', among(3).series('findings')),
  ];
}

/** What happened, on the time axis of every panel. */
function annotations(q: Queries): readonly dashboard.AnnotationQueryBuilder[] {
  const note = (name: string, colour: string, expr: string, title: string, text: string, enabled: boolean) =>
    new dashboard.AnnotationQueryBuilder()
      .name(name)
      .datasource(DATASOURCE)
      .enable(enabled)
      .hide(false)
      .iconColor(colour)
      .expr(expr)
      .step('60s')
      .titleFormat(title)
      .textFormat(text)
      .target(new prometheus.DataqueryBuilder().refId('Anno').datasource(DATASOURCE).expr(expr).range());
  return [
    note(
      'Alerts',
      'red',
      'ALERTS{alertname=~"Tailfin.+", alertstate="firing", namespace=~"$namespace|", server=~"$server|"}',
      '{{ alertname }}',
      '{{ namespace }} {{ server }}',
      true,
    ),
    note(
      'Endpoint bursts',
      'orange',
      `sum by (namespace, server) (${q.increase('findings', '2m', { rule: 'endpoint_termination_burst' })}) > 0`,
      'An endpoint ended many streams at once',
      '{{ namespace }} {{ server }}',
      false,
    ),
    note(
      'Sidecar silent',
      'blue',
      `${q.external('up')} == 0`,
      'A sidecar does not answer',
      '{{ namespace }}/{{ pod }}',
      false,
    ),
  ];
}

function links(own: BoardKey): readonly dashboard.DashboardLinkBuilder[] {
  return (Object.keys(BOARDS) as BoardKey[])
    .filter((key) => key !== own)
    .map((key) =>
      new dashboard.DashboardLinkBuilder(BOARDS[key].title.split(' / ')[1] as string)
        .type(dashboard.DashboardLinkType.Link)
        .url(`/d/${BOARDS[key].uid}`)
        .icon('dashboard')
        .includeVars(true)
        .keepTime(true),
    );
}

/** Left to right, a new line when the width is used up; rows below each other. */
function place(
  panels: readonly Panel[],
  top: number,
): { readonly at: readonly dashboard.GridPos[]; readonly bottom: number } {
  let x = 0;
  let y = top;
  let tallest = 0;
  const at = panels.map(({ width, height = HEIGHT }) => {
    if (x + width > 24) {
      x = 0;
      y += tallest;
      tallest = 0;
    }
    const place: dashboard.GridPos = { x, y, w: width, h: height };
    x += width;
    tallest = Math.max(tallest, height);
    return place;
  });
  return { at, bottom: y + tallest };
}

export function renderBoard({ key, description, rows }: Board, settings: Settings, q: Queries): dashboard.Dashboard {
  const { uid, title } = BOARDS[key];
  const builder = new dashboard.DashboardBuilder(title)
    .id(null)
    .uid(uid)
    .description(description)
    .tags([TAG, 'mcp'])
    .readonly()
    .timezone('utc')
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .refresh('1m')
    .time({ from: 'now-3h', to: 'now' })
    .variables([...variables(settings)])
    .annotations([...annotations(q)])
    .links([...links(key)]);
  let y = 0;
  for (const { title: heading, collapsed = false, panels } of rows) {
    const { at, bottom } = place(panels, heading === null ? y : y + 1);
    const placed = panels.map((panel, i) => {
      const each = toGrafana(uid, panel);
      each.gridPos(at[i] as dashboard.GridPos);
      return each;
    });
    if (heading !== null) {
      const row = new dashboard.RowBuilder(heading).id(panelId(uid, `row ${heading}`)).collapsed(collapsed);
      row.gridPos({ x: 0, y, w: 24, h: 1 });
      if (collapsed) for (const panel of placed) row.withPanel(panel);
      builder.withRow(row);
    }
    if (!collapsed || heading === null) for (const panel of placed) builder.withPanel(panel);
    y = collapsed ? y + 1 : bottom;
  }
  return builder.build();
}
