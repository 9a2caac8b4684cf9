/** The hold of a new series over a restart: the time in which nobody could be answered is no part of it. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { STATE_FORMAT } from '../../src/app/checkpoint/checkpoint.ts';
import { beginLife } from '../../src/app/checkpoint/life.ts';
import { encodeRecord } from '../../src/app/checkpoint/record.ts';
import { createSlots } from '../../src/app/checkpoint/slots.ts';
import { type Cell, type Cells, NEW, SHOWN } from '../../src/core/measures/cells.ts';
import { createPipeline } from '../../src/core/pipeline.ts';
import { createDebut } from '../../src/exporters/debut.ts';
import { STATE_VERSION } from '../../src/sources/file-state.ts';
import { tempFolder } from '../support/cli.ts';

const HOUR = 3_600_000;
const HOLD_MS = 60_000;
const FILES = { version: STATE_VERSION, watermark: 0, newestTs: 0, unstableBirth: [], files: [] };
const SERVERS = ['seen', 'held', 'unseen'];

function findings(cells: Cells): Cell[] {
  const family = [...cells.families()].find(({ key }) => key === 'findings');
  assert.ok(family !== undefined);
  return family.cells.filter(({ values }) => SERVERS.includes(values[0] as string));
}

for (const [what, withTime] of [
  ['a record that says when it was taken', true],
  ['one of an earlier version, which does not: the clock alone decides', false],
] as const)
  test(what, async (t) => {
    const folder = join(tempFolder(t), 'state');
    mkdirSync(folder);
    const before = createPipeline();
    for (const server of SERVERS) before.cells.add('findings', 1, [server, 'ambiguous_close']);
    // A second before the record, an hour before the next life, its 0 was answered to the first of two scrapers.
    const at = Date.now() - HOUR;
    const debuts = [SHOWN, at - 1000, NEW];
    for (const [i, cell] of findings(before.cells).entries()) cell.debut = debuts[i] as number;
    const head = { format: STATE_FORMAT, sources: { files: FILES }, ...(withTime && { at }) };
    await createSlots(folder).write(encodeRecord(head, before.save()), () => {});

    const life = await beginLife(folder, 'files', () => {}, {});
    t.after(life.release);
    assert.equal(life.start, 'restored');
    const debut = createDebut();
    const shown = (now: number): unknown[] => {
      debut.release(life.cells.families(), now, HOLD_MS);
      return findings(life.cells).flatMap(({ values, debut: stage }) => (stage === SHOWN ? [values[0]] : []));
    };
    const now = Date.now();
    assert.deepEqual(shown(now), withTime ? ['seen'] : ['seen', 'held'], 'the second scraper still finds the 0');
    assert.deepEqual(shown(now + HOLD_MS - 1000), ['seen', 'held'], 'what was held before the restart counts');
    assert.deepEqual(shown(now + HOUR), ['seen', 'held'], 'what nobody was shown waits for its first scrape');
  });
