/**
 * `npm run generate:dashboards`: writes every board and rule file. `-- --check`: compares, exits 1 on drift. `-- --settings FILE --out FOLDER`:
 * from other thresholds and selectors, to another place.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { outputs, ownOutputs } from './outputs.ts';
import { readSettings } from './settings.ts';

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, settings: { type: 'string' }, out: { type: 'string' } },
});
const out = values.out ?? fileURLToPath(new URL('generated', import.meta.url));
const settings = readSettings(values.settings);
const files = values.out === undefined ? ownOutputs(settings) : outputs(settings);
const shown = (path: string): string => relative(process.cwd(), join(out, path));

const current = (path: string): string | undefined => {
  try {
    return readFileSync(join(out, path), 'utf8');
  } catch {
    return undefined;
  }
};
const drift = (path: string, wrong: string): void => {
  console.error(`${shown(path)} ${wrong}: run npm run generate`);
  process.exitCode = 1;
};

for (const [path, text] of Object.entries(files)) {
  if (current(path) === text) continue;
  if (values.check) drift(path, 'is out of date');
  else {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
    console.log(`wrote ${shown(path)}`);
  }
}
/** What no table makes any more. Only in our own folder: another one may hold other things. */
if (values.out === undefined)
  for (const path of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (!/\.\w+$/.test(path) || path in files) continue;
    if (values.check) drift(path, 'is made by nothing');
    else rmSync(join(out, path));
  }
