/** What an alert is, before it is written for Prometheus, Kubernetes or Grafana. It decides no threshold. */
import { BOARDS, type BoardKey } from '../names.ts';
import type { Queries } from '../queries.ts';
import type { Settings } from '../settings.ts';

export interface Alert {
  readonly name: string;
  readonly expr: string;
  readonly for: string;
  /** Absent: it ends with its condition. */
  readonly keepFiringFor?: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly labels?: Readonly<Record<string, string>>;
  /** The same for all: it groups. */
  readonly summary: string;
  /** With labels and the value, and what to do first. */
  readonly description: string;
  readonly board: BoardKey;
  /** Labels of the alert that are variables of the board. */
  readonly variables: readonly ('namespace' | 'server' | 'pod')[];
  /** How far back the board must look to show what fired; absent: its own default shows it. */
  readonly since?: string;
}

export interface AlertContext {
  readonly q: Queries;
  readonly settings: Settings;
}

export const runbookUrl = (settings: Settings, name: string): string => `${settings.runbook_url}#${name.toLowerCase()}`;

export function dashboardUrl(settings: Settings, { board, variables, since }: Alert): string {
  const query = [
    ...(since === undefined ? [] : [`from=now-${since}`, 'to=now']),
    ...variables.map((name) => `var-${name}={{ $labels.${name} }}`),
  ].join('&');
  return `${settings.dashboard_url}/d/${BOARDS[board].uid}${query === '' ? '' : `?${query}`}`;
}

/** Where it is: what every description begins or ends with. */
export const SERVER_AT = 'server {{ $labels.server }} in namespace {{ $labels.namespace }}';
/** The address beside it: outside of Kubernetes there is no pod. */
export const POD_AT = 'pod {{ $labels.namespace }}/{{ $labels.pod }} ({{ $labels.instance }})';
