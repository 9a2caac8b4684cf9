/**
 * CPU of one scrape when every series has changed since the last: fills our cells from the metric catalog until there are
 * 10,000 series, touches every one, renders. In this process, from source. Prints {series, text: {cpuMs (median), bytes},
 * openmetrics: the same with an exemplar wherever one may be} as JSON.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median, withFolder } from './measure.mjs';
import { createRandom } from './random.mjs';

const SERIES = 10_000;
const WARM_UP = 5;
const ROUNDS = 9;
const SERVERS = 60;
const ENDPOINTS = 30;
const FORMATS = ['text', 'openmetrics'];
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const ENTRY = `
export { createCells } from './src/core/measures/cells.ts';
export { CATALOG } from './src/core/measures/catalog.ts';
export { createPrometheusExporter } from './src/exporters/prometheus.ts';
`;

/** The parts under test as one module, bundled as build.mjs does. */
async function load(folder) {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: fileURLToPath(new URL('..', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  const file = join(folder, 'parts.mjs');
  writeFileSync(file, outputFiles[0].text);
  return import(pathToFileURL(file).href);
}

/** Label sets as they come in life: servers and endpoints by name, the rest from the closed sets. */
function createFiller({ CATALOG }, cells) {
  const random = createRandom(7);
  const metrics = Object.entries(CATALOG).filter(([, spec]) => spec.labels.some(([label]) => label === 'server'));
  const pickValue = ([label, domain]) => {
    if (typeof domain !== 'string') return random.pick(domain);
    if (label === 'server') return `server-${random.below(SERVERS)}`;
    return label === 'endpoint' ? `10.0.0.${random.below(ENDPOINTS)}:8080` : String(200 + random.below(20));
  };
  const used = [];
  while (cells.series < SERIES) {
    const [key, spec] = random.pick(metrics);
    const values = spec.labels.map(pickValue);
    const before = cells.series;
    touch(cells, key, spec, values);
    if (cells.series > before) used.push({ key, spec, values });
  }
  return used;
}

/** Counts up, so that no value is the one of the scrape before. */
let clock = 0;

function touch(cells, key, { kind }, values) {
  if (kind === 'histogram') cells.observe(key, ++clock % 300, values, TRACEPARENT, clock);
  else if (kind === 'gauge') cells.set(key, ++clock, values);
  else cells.add(key, 1, values, TRACEPARENT, ++clock);
}

await withFolder(async (folder) => {
  const parts = await load(folder);
  const cells = parts.createCells(2 * SERIES);
  const used = createFiller(parts, cells);
  const exporter = parts.createPrometheusExporter(cells, { process: false });
  const measured = { series: cells.series };
  for (const format of FORMATS) {
    const costs = [];
    let bytes = 0;
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      for (const { key, spec, values } of used) touch(cells, key, spec, values);
      const before = process.cpuUsage();
      bytes = (await exporter.render(format)).length;
      const { user, system } = process.cpuUsage(before);
      if (round >= WARM_UP) costs.push((user + system) / 1000);
    }
    measured[format] = { cpuMs: median(costs), bytes };
  }
  console.log(JSON.stringify(measured));
});
