/** The file source as `run` sets it up: which folders are tidied, and that its series are there before anything happens. */
import assert from 'node:assert/strict';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/app/config.ts';
import { createFileSource, showSources } from '../../src/app/file-source.ts';
import { createCells } from '../../src/core/measures/cells.ts';
import type { LineSink } from '../../src/sources/source.ts';
import { tempFolder } from '../sources/tail-rig.ts';

const WRITER = 'd'.repeat(32);
const SINK: LineSink = { line: () => 1, reject: () => {}, invalidUtf8: () => {}, advance: () => {} };

/** A segment that ended an hour ago, read by a source of this configuration. */
async function afterReading(t: TestContext, flags: Record<string, unknown>) {
  const folder = tempFolder(t);
  const path = join(folder, `${WRITER}-0.ndjson`);
  const envelope = `"ts":1,"writer":"${WRITER}","id":"${WRITER}-0"`;
  writeFileSync(
    path,
    `{"v":1,"type":"segment",${envelope},"n":0}\r\n{"v":1,"type":"end",${envelope},"events":0,"dropped":0}\n`,
  );
  const past = new Date(Date.now() - 3_600_000);
  utimesSync(path, past, past);
  const cells = createCells();
  const config = loadConfig({ flags: { events: join(folder, '*.ndjson'), ...flags } });
  const source = createFileSource({
    config,
    cells,
    log: () => {},
    now: Date.now,
    resume: undefined,
    hasCommits: false,
  });
  const before = [...cells.families()].filter(({ cells: all }) => [...all].length > 0).map(({ spec }) => spec.name);
  await source.drain(SINK, 10_000);
  await source.drain(SINK, 10_000);
  showSources(cells, [source]);
  const value = (name: string, label?: string) => {
    for (const { spec, cells: all } of cells.families())
      if (spec.name === name) for (const each of all) if (!label || each.values.includes(label)) return each.value;
    return undefined;
  };
  return { before, value, isThere: existsSync(path) };
}

test('file source: read segments are removed where that was asked for, not from a folder that was named', async (t) => {
  assert.equal((await afterReading(t, {})).isThere, true);
  assert.equal((await afterReading(t, { removeReadSegments: 'never' })).isThere, true);
  const { isThere, value } = await afterReading(t, { removeReadSegments: 'always' });
  assert.equal(isThere, false);
  assert.equal(value('tailfin_source_removed_segments_total'), 1);
  assert.equal(value('tailfin_source_files'), 0);
});

test('file source: counts are at 0 from the start, then what happened', async (t) => {
  const { before, value } = await afterReading(t, {});
  for (const name of ['truncations', 'lost_bytes', 'read_bytes', 'cleaned_lines', 'copies', 'removed_segments'])
    assert.ok(before.includes(`tailfin_source_${name}_total`), name);
  assert.equal(value('tailfin_source_up'), 1);
  assert.equal(value('tailfin_source_files'), 1);
  assert.equal(value('tailfin_source_cleaned_lines_total', 'crlf'), 1);
  assert.equal(value('tailfin_source_lost_bytes_total', 'rotated'), 0);
  assert.ok((value('tailfin_source_read_bytes_total') ?? 0) > 100);
  assert.equal(value('tailfin_source_backlog_ratio'), 1);
  assert.equal(value('tailfin_source_unread_rotated_bytes'), 0);
});
