/** The table of metrics in docs/opentelemetry.md, from the catalog; the rest of that page is written by hand. */
import { CATALOG, type MetricKey, type MetricSpec } from '../core/measures/catalog.ts';
import { OTEL_NAMES } from '../exporters/otel-names.ts';

const BEGIN =
  '<!-- Generated from src/core/measures/catalog.ts by `npm run generate`; do not edit up to the next comment. -->';
const END = '<!-- Generated up to here. -->';

const KINDS: Readonly<Record<MetricSpec['kind'], string>> = {
  counter: 'sum, monotonic',
  gauge: 'gauge',
  histogram: 'histogram',
};

function table(): string {
  const rows = (Object.keys(CATALOG) as MetricKey[]).map((key) => {
    const { name: own, kind } = CATALOG[key] as MetricSpec;
    const { name, unit, attributes } = OTEL_NAMES[key];
    const cells = [
      `\`${name}\``,
      unit === '' ? '' : `\`${unit}\``,
      KINDS[kind],
      attributes.map((each) => `\`${each}\``).join(', '),
    ];
    return `| ${[...cells, `\`${own}\``].join(' | ')} |`;
  });
  return ['| OTLP | unit | data | attributes | Prometheus |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The page with the table as it is now. @throws where the page has no place for it. */
export function renderOtelDoc(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/opentelemetry.md has no place for its table');
  return `${before}${BEGIN}\n\n${table()}\n\n${END}${after}`;
}
