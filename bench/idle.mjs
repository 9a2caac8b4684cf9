/**
 * What it costs to follow files that nobody writes to: CPU of `tailfin run` as a share of one core, 1,000 files read to their ends
 * and then left alone. Further descriptors, watches or looks would show here first.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, withSidecar } from './measure.mjs';

/** Past the first seconds, in which files count as changing. */
const SETTLE_MS = 12_000;

export function measureIdleFiles(main, { files, seconds }) {
  return withSidecar(main, async ({ pid, url, folder }) => {
    const line = (i) => `{"v":1,"type":"gap","ts":${Date.now()},"writer":"w${i}","dropped":1}\n`;
    for (let i = 0; i < files; i++) writeFileSync(join(folder, `host-${i}.ndjson`), line(i));
    const read = async () => /^tailfin_events_total\{.*type="gap"\} (\d+)$/m.exec(await (await fetch(url)).text())?.[1];
    for (let tries = 0; (await read()) !== String(files); tries++) {
      if (tries > 300) throw new Error(`${await read()} of ${files} files were read`);
      await sleep(200);
    }
    await sleep(SETTLE_MS);
    const before = cpuSecondsOf(pid);
    const started = performance.now();
    await sleep(seconds * 1000);
    return (cpuSecondsOf(pid) - before) / ((performance.now() - started) / 1000);
  });
}
