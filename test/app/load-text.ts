/** Configuration from a text, for tests: by a file of their own, as an operator would. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Config, type ConfigInput, loadConfig } from '../../src/app/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailfin-config-'));
after(() => rmSync(folder, { recursive: true }));
export const CONFIG_FILE = join(folder, 'tailfin.yaml');

export function loadText(text: string, input: Omit<ConfigInput, 'file'> = {}): Config {
  writeFileSync(CONFIG_FILE, text);
  return loadConfig({ file: CONFIG_FILE, ...input });
}

/** All that must survive printing: everything but where it came from. */
export function valuesOf({ origins: _, ...values }: Config): unknown {
  return values;
}
