/**
 * Random rotations against a model: whatever happens to the files, each whole line is delivered exactly once, across restarts too.
 * What is lost by nature (truncated or removed before it could be seen) is left out by waiting first.
 */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, renameSync, truncateSync, unlinkSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { until } from '../support/until.ts';
import { createRig, lines, tempFolder } from './tail-rig.ts';

const ACTIONS = [
  'append',
  'half',
  'rotate',
  'oldWriter',
  'settle',
  'truncate',
  'unlinkOld',
  'replace',
  'restart',
] as const;

test('tail: random rotations and restarts, each line once', async (t) => {
  const actions = fc.array(fc.constantFrom(...ACTIONS), { minLength: 3, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      actions,
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(16, 200, 65_536),
      async (steps, maxOpenFiles, sliceBytes) => {
        const folder = tempFolder(t);
        const options = { folder, globs: ['f.ndjson*', 'f.ndjson'], pollMs: 5, graceMs: 0, maxOpenFiles, sliceBytes };
        let rig = createRig(t, options).start();
        const f = rig.path('f.ndjson');
        const rotated: string[] = [];
        const delivered: string[] = [];
        const rejects: string[] = [];
        let written = 0;
        let half = '';

        const write = (path: string, count: number) => {
          appendFileSync(path, lines(written, count));
          written += count;
        };
        const finishHalf = () => {
          if (half !== '') appendFileSync(f, half);
          half = '';
        };
        const settle = () =>
          until(() => delivered.length + rig.delivered.length >= written, {
            what: () => `${written} lines after ${steps}; ${JSON.stringify(rig.status())} ${rig.logs.join('; ')}`,
          });
        const collect = () => {
          delivered.push(...rig.delivered.map(({ text }) => text));
          rejects.push(...rig.rejects);
        };
        const run: Record<(typeof ACTIONS)[number], () => void | Promise<void>> = {
          append: () => {
            finishHalf();
            write(f, 3);
          },
          half: () => {
            finishHalf();
            const line = lines(written++, 1);
            appendFileSync(f, line.slice(0, 5));
            half = line.slice(5);
          },
          rotate: () => {
            finishHalf();
            if (!existsSync(f)) return;
            const name = `${f}.${rotated.length}`;
            renameSync(f, name);
            rotated.push(name);
            write(f, 2);
          },
          oldWriter: () => {
            const name = rotated.at(-1);
            if (name !== undefined && existsSync(name)) write(name, 2);
          },
          settle: async () => {
            finishHalf();
            await settle();
          },
          truncate: async () => {
            await run.settle();
            if (!existsSync(f)) return;
            await rig.untilLooked();
            truncateSync(f);
            // A file that grows past a position while nobody looks cannot be told from one that was never truncated.
            write(f, 1);
            await settle();
          },
          unlinkOld: async () => {
            await run.settle();
            const name = rotated.find((path) => existsSync(path));
            if (name !== undefined) unlinkSync(name);
          },
          replace: async () => {
            await run.settle();
            write(`${folder}/tmp`, 4);
            renameSync(`${folder}/tmp`, f);
          },
          restart: async () => {
            await rig.stop();
            await rig.tail.drain(rig.sink, 0);
            collect();
            rig = createRig(t, { ...options, resume: rig.tail.state() }).start();
          },
        };
        for (const step of steps) await run[step]();
        await run.settle();
        await rig.untilLooked();
        await rig.stop();
        await rig.tail.drain(rig.sink, 0);
        collect();
        const numbers = delivered.map((text) => (JSON.parse(text) as { n: number }).n).sort((a, b) => a - b);
        assert.deepEqual(
          numbers,
          Array.from({ length: written }, (_, i) => i),
        );
        assert.deepEqual(rejects, []);
      },
    ),
    { numRuns: 15, endOnFailure: true },
  );
});
