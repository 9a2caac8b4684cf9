/**
 * OpenMetrics 1.0.0 from a prom-client registry of its own, with adapters of its own: this registry writes counters as NAME_total
 * under a family NAME, and would rename those it shares. The head of a family is written here, since prom-client knows no UNIT and
 * leaves quotes in a HELP as they are. The numbers are those of the cells, as in the text format.
 */
import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client';
import type { Cells } from '../core/measures/cells.ts';
import type { Sample, Snapshot } from './samples.ts';

export interface OpenMetrics {
  render(shot: Snapshot): Promise<string>;
}

interface Head {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly unit: string | null;
}

/** As prom-client's registry renders it. */
interface Rendered {
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

/** A unit must be the end of the family's name; only base units say more than the name does. */
const UNITS = ['seconds', 'bytes'];
const unitOf = (name: string): string | null => UNITS.find((unit) => name.endsWith(`_${unit}`)) ?? null;

const familyName = (name: string, type: string): string => (type === 'counter' ? name.replace(/_total$/, '') : name);
const escapeHelp = (help: string): string =>
  help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const headText = ({ name, type, unit, help }: Head): string =>
  `# TYPE ${name} ${type}\n${unit === null ? '' : `# UNIT ${name} ${unit}\n`}# HELP ${name} ${escapeHelp(help)}\n`;

/** What stands behind the HELP and TYPE lines that prom-client wrote. */
function samplesText(text: string): string {
  const end = text.indexOf('\n', text.indexOf('\n') + 1);
  return end < 0 ? '' : `${text.slice(end + 1)}\n`;
}

/** `ofProcess`: metrics that another registry holds; they are read, never renamed. */
export function createOpenMetrics(
  cells: Cells,
  ofProcess: readonly Metric[],
  pause: () => Promise<void> | undefined,
): OpenMetrics {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const heads: Head[] = [];
  let snapshot: Snapshot = new Map();
  const register = (head: Head, values: () => Promise<readonly Sample[]>): void => {
    const { name, help, type } = head;
    const get = async (): Promise<Rendered & { readonly name: string }> => ({
      name,
      help,
      type,
      values: await values(),
    });
    registry.registerMetric({ name, help, type, aggregator: 'sum', get } as unknown as Metric);
    heads.push(head);
  };
  for (const family of cells.families()) {
    const { name: full, kind, help, unit } = family.spec;
    const name = familyName(full, kind);
    const suffix = unitOf(name);
    const head = { name, type: kind, help, unit: suffix === unit ? suffix : null };
    register(head, async () => snapshot.get(family) ?? []);
  }
  for (const metric of ofProcess) {
    const { name: full, help, type } = metric as unknown as Rendered & { readonly name: string };
    const name = familyName(full, type);
    const get = async (): Promise<readonly Sample[]> => ((await metric.get()) as unknown as Rendered).values;
    register({ name, type, help, unit: unitOf(name) }, get);
  }
  return {
    async render(shot) {
      snapshot = shot;
      try {
        const families: string[] = [];
        for (const head of heads) {
          families.push(headText(head) + samplesText(await registry.getSingleMetricAsString(head.name)));
          await pause();
        }
        return `${families.join('')}# EOF\n`;
      } finally {
        snapshot = new Map();
      }
    },
  };
}
