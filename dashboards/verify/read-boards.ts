/** The generated boards as Grafana would read them: every query with its panel, and every variable and annotation. Reads JSON, asks nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const GENERATED = fileURLToPath(new URL('../generated/', import.meta.url));

export interface TargetJson {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
  readonly range?: boolean;
  readonly format?: string;
  readonly exemplar?: boolean;
  readonly datasource?: { readonly uid: string };
}
export interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly TargetJson[];
  readonly panels?: readonly PanelJson[];
  readonly collapsed?: boolean;
  readonly links?: readonly { readonly url: string; readonly title: string }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly noValue?: string;
      readonly decimals?: number;
      readonly min?: number;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null }[] };
    };
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
    }[];
  };
  readonly options?: {
    readonly legend?: { readonly showLegend?: boolean; readonly calcs?: readonly string[] };
    readonly reduceOptions?: unknown;
    readonly text?: { readonly titleSize?: number };
  };
}
export interface VariableJson {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
  readonly datasource?: { readonly uid: string };
  readonly refresh?: number;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
}
export interface BoardJson {
  readonly id: number | null;
  readonly uid: string;
  readonly title: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly editable: boolean;
  readonly schemaVersion: number;
  readonly graphTooltip: number;
  readonly timezone: string;
  readonly refresh: string;
  readonly panels: readonly PanelJson[];
  readonly links: readonly { readonly url?: string; readonly includeVars: boolean; readonly keepTime: boolean }[];
  readonly templating: { readonly list: readonly VariableJson[] };
  readonly annotations: {
    readonly list: readonly {
      readonly name: string;
      readonly enable: boolean;
      readonly datasource: { readonly uid: string };
      readonly expr: string;
      readonly titleFormat?: string;
    }[];
  };
}

export const readBoards = (folder = GENERATED): readonly BoardJson[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as BoardJson);

/** Panels that show data, those in collapsed rows included. */
export const panelsOf = (board: BoardJson): readonly PanelJson[] =>
  board.panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
