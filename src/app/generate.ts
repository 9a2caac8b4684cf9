/** `npm run generate`: writes what derives from the tables in the code. `-- --check`: compares, exits 1 on drift. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderConfigDoc } from './config-doc.ts';
import { deployFiles } from './generate-deploy.ts';
import { renderScanner } from './generate-scanner.ts';
import { renderFindingsDoc, renderMetricsDoc } from './metrics-doc.ts';
import { renderOtelDoc } from './otel-doc.ts';
import { renderEventsDoc, renderSchema } from './schema-doc.ts';

const GENERATED: Readonly<Record<string, () => string>> = {
  'src/core/scan/program.ts': renderScanner,
  'docs/event.schema.json': renderSchema,
  'docs/events.md': renderEventsDoc,
  'docs/metrics.md': renderMetricsDoc,
  'docs/findings.md': renderFindingsDoc,
  'docs/config.md': renderConfigDoc,
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const check = process.argv.includes('--check');
const current = (path: string): string => {
  try {
    return readFileSync(root + path, 'utf8');
  } catch {
    return '';
  }
};

const OTEL = 'docs/opentelemetry.md';
const files = { ...GENERATED, [OTEL]: () => renderOtelDoc(current(OTEL)), ...deployFiles(root) };
for (const [path, render] of Object.entries(files)) {
  const text = render?.() ?? '';
  if (render !== undefined && text === current(path)) continue;
  if (check) {
    console.error(`${path} is out of date: run npm run generate`);
    process.exitCode = 1;
  } else if (render === undefined) rmSync(root + path);
  else {
    mkdirSync(dirname(root + path), { recursive: true });
    writeFileSync(root + path, text);
    console.log(`wrote ${path}`);
  }
}
