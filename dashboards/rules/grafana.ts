/**
 * Alerts for Grafana's own alerting, as a file that it is provisioned with. The fields are those of the SDK's types but for three that the
 * file format spells its own way. It decides no threshold; the recorded series are those of Prometheus: load the recording rules there.
 */
import type * as alerting from '@grafana/grafana-foundation-sdk/alerting';
import type * as expression from '@grafana/grafana-foundation-sdk/expr';
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import type { Settings } from '../settings.ts';
import { type Alert, dashboardUrl, runbookUrl } from './alert.ts';

type Model<T> = Omit<T, '_implementsDataqueryVariant'>;
interface Query {
  readonly refId: string;
  readonly datasourceUid: string;
  /** Seconds before now. */
  readonly relativeTimeRange: Required<alerting.RelativeTimeRange>;
  readonly model: Model<prometheus.Dataquery> | Model<expression.TypeMath>;
}
type FromSdk = 'title' | 'condition' | 'noDataState' | 'execErrState' | 'for' | 'labels' | 'annotations';
/** In the API it is `keep_firing_for`; folder and group stand around it. */
interface Rule extends Required<Pick<alerting.Rule, FromSdk>> {
  readonly uid: string;
  readonly keepFiringFor?: string;
  readonly data: readonly Query[];
}
interface Group {
  readonly orgId: number;
  readonly name: string;
  readonly folder: string;
  readonly interval: string;
  readonly rules: readonly Rule[];
}
export interface Provisioning {
  readonly apiVersion: 1;
  readonly groups: readonly Group[];
}

const NOW = { from: 600, to: 0 };

function queries(alert: Alert, settings: Settings): readonly Query[] {
  return [
    {
      refId: 'A',
      datasourceUid: settings.grafana_datasource,
      relativeTimeRange: NOW,
      model: { refId: 'A', expr: alert.expr, instant: true, range: false },
    },
    // What the expression leaves is what fires, whatever its value: 0 too (up == 0).
    {
      refId: 'B',
      datasourceUid: '__expr__',
      relativeTimeRange: NOW,
      model: { refId: 'B', type: 'math', expression: 'is_number($A) || is_inf($A)' },
    },
  ];
}

function ruleOf(alert: Alert, settings: Settings, suffix: string): Rule {
  const which = alert.labels === undefined ? '' : ` (${Object.values(alert.labels).join(', ')})`;
  return {
    uid: `${alert.name.toLowerCase()}${suffix}`,
    title: `${alert.name}${which}`,
    condition: 'B',
    data: queries(alert, settings),
    // No series is the good case of all of them; absent() has one when it is not.
    noDataState: 'OK',
    execErrState: 'Error',
    for: alert.for,
    ...(alert.keepFiringFor === undefined ? {} : { keepFiringFor: alert.keepFiringFor }),
    labels: { severity: alert.severity, ...alert.labels },
    annotations: {
      summary: alert.summary,
      description: alert.description.replaceAll('$value', '$values.A.Value'),
      runbook_url: runbookUrl(settings, alert.name),
      dashboard_url: dashboardUrl(settings, alert),
    },
  };
}

export function grafanaRules(
  { traffic, self }: { readonly traffic: readonly Alert[]; readonly self: readonly Alert[] },
  settings: Settings,
): Provisioning {
  const numbered = new Map<string, number>();
  const group = (name: string, alerts: readonly Alert[]): Group => ({
    ...{ orgId: 1, name, folder: 'Tailfin', interval: '1m' },
    rules: alerts.map((alert) => {
      const n = (numbered.get(alert.name) ?? 0) + 1;
      numbered.set(alert.name, n);
      return ruleOf(alert, settings, n === 1 ? '' : `-${n}`);
    }),
  });
  return { apiVersion: 1, groups: [group('tailfin.traffic', traffic), group('tailfin.self', self)] };
}
