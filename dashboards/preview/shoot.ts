/**
 * `npm run preview:dashboards` (after `npm ci` in this folder): the story in a real Prometheus, every generated board drawn with its answers in headless Chromium, one picture each in
 * docs/images, with the hash of the board that it shows in docs/images/boards.json. `-- --expanded FOLDER`: collapsed rows opened, to look at.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';
import { type Prometheus, startPrometheus } from '../../test/support/prometheus.ts';
import { expand, fillVariables, stepOf, type View } from '../verify/expand.ts';
import { type BoardJson, GENERATED, type PanelJson, panelsOf, readBoards } from '../verify/read-boards.ts';
import { BEGIN, END, unixSeconds } from '../verify/story.ts';
import { prepare } from '../verify/verify.ts';

const NOTE = "rendered with Grafana's UI library, not by Grafana";
const { values } = parseArgs({ options: { expanded: { type: 'string' } } });
const images = values.expanded ?? fileURLToPath(new URL('../../docs/images', import.meta.url));
const binary = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (path) => spawnSync(path, ['--version']).status === 0,
);
if (binary === undefined) {
  console.error('needs chromium (Debian: apt-get install chromium)');
  process.exit(2);
}
const view: View = { from: unixSeconds(BEGIN), to: unixSeconds(END), scrape: 15 };

async function answersOf(board: BoardJson, prometheus: Prometheus): Promise<Record<number, unknown>> {
  const filled = await fillVariables(board, prometheus, view, 'all');
  const answers: Record<number, unknown> = {};
  for (const { id, targets = [] } of panelsOf(board))
    answers[id] = await Promise.all(
      targets.map(async ({ refId, expr, legendFormat = '', instant }) => {
        const query = expand(expr, filled, view);
        const series =
          instant === true
            ? await prometheus.instant(query, view.to)
            : await prometheus.range(query, view.from, view.to, stepOf(view));
        return { refId, legend: legendFormat, series };
      }),
    );
  return answers;
}

/** Collapsed rows opened: what is below them moves down. */
function opened(board: BoardJson): BoardJson {
  let down = 0;
  const panels: PanelJson[] = [];
  for (const panel of board.panels) {
    const moved = { ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y + down }, collapsed: false };
    panels.push(moved);
    const inner = panel.panels ?? [];
    for (const each of inner) panels.push({ ...each, gridPos: { ...each.gridPos, y: each.gridPos.y + down } });
    if (inner.length > 0) down += Math.max(...inner.map(({ gridPos: { y, h } }) => y + h)) - panel.gridPos.y - 1;
  }
  return { ...board, panels };
}

const folder = mkdtempSync(join(tmpdir(), 'tailfin-preview-'));
const root = fileURLToPath(new URL('.', import.meta.url));
await build({ root, logLevel: 'error', build: { outDir: join(folder, 'page'), emptyOutDir: true, minify: false } });
const { data } = await prepare(folder);
const prometheus = await startPrometheus({ data: data[15] as string });
const server = await preview({
  root,
  logLevel: 'error',
  build: { outDir: join(folder, 'page') },
  preview: { host: '127.0.0.1', port: 0 },
});
const browser = await chromium.launch({ executablePath: binary, args: ['--no-sandbox', '--font-render-hinting=none'] });
try {
  const page = await browser.newPage({ viewport: { width: 1640, height: 1200 }, deviceScaleFactor: 1 });
  const wrong: string[] = [];
  page.on('pageerror', (error) => {
    wrong.push(error.message);
    console.error(error.message);
  });
  await page.goto(server.resolvedUrls?.local[0] as string);
  await page.waitForFunction('window.ready === true', undefined, { timeout: 60_000 });
  mkdirSync(images, { recursive: true });
  const hashes: Record<string, string> = {};
  for (const board of readBoards()) {
    const shown = values.expanded === undefined ? board : opened(board);
    const payload = {
      board: shown,
      answers: await answersOf(board, prometheus),
      ...view,
      step: stepOf(view),
      note: NOTE,
    };
    await page.evaluate(
      (each) => (globalThis as unknown as { show(each: unknown): Promise<void> }).show(each),
      payload,
    );
    // What is outside of the window is drawn when it comes into sight.
    const bottom = Math.max(...shown.panels.map(({ gridPos: { y, h } }) => y + h));
    await page.setViewportSize({ width: 1660, height: bottom * 38 + 100 });
    await page.waitForSelector('#board canvas, #board [role=grid]', { timeout: 30_000 });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 1500)))');
    await page.locator('#board').screenshot({ path: join(images, `${board.uid}.png`) });
    hashes[`${board.uid}.png`] = createHash('sha256')
      .update(readFileSync(join(GENERATED, `${board.uid}.json`)))
      .digest('hex');
    console.log(`${board.uid}.png`);
  }
  if (values.expanded === undefined)
    writeFileSync(join(images, 'boards.json'), `${JSON.stringify({ note: NOTE, sha256: hashes }, null, 2)}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await browser.close();
  await server.close();
  await prometheus.stop();
  rmSync(folder, { recursive: true, force: true });
}
