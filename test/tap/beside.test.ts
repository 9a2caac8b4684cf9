/**
 * The tap beside the whole packages of others. They are large: they have a lockfile of their own (`npm ci` in test/tap/beside, which
 * .ci/run does), and without them this is skipped.
 */
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { besideNeighbour } from './beside-rig.ts';

/** S1 cannot start beside MSW, with or without the tap: it waits for the end of a body that MSW's own clone keeps open. */
const PACKAGES = [
  ['sentry', '@sentry/node', ['S1', 'C2-2025', 'C2-2026']],
  ['dd-trace', 'dd-trace', ['S1', 'C2-2025', 'C2-2026']],
  ['msw-server', 'msw', ['C2-2025', 'C2-2026']],
] as const;

for (const [name, needed, sdks] of PACKAGES) {
  const folder = fileURLToPath(new URL(`beside/node_modules/${needed}`, import.meta.url));
  for (const sdk of sdks)
    test(`${needed}, ${sdk}`, async (t) => {
      if (!existsSync(folder)) return t.skip(`skipped: needs ${needed.replace(/\W+/g, ' ').trim()} in test tap beside`);
      await besideNeighbour(t, name, sdk);
    });
}
