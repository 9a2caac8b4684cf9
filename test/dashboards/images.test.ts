/** A picture of every board, not blank, used where people read, with the hash of a board beside it. Whether it is the newest board is a note, no failure. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BOARDS } from '../../dashboards/names.ts';
import { ROOT } from '../support/cli.ts';

const IMAGES = join(ROOT, 'docs/images');
const { sha256 } = JSON.parse(readFileSync(join(IMAGES, 'boards.json'), 'utf8')) as {
  readonly sha256: Readonly<Record<string, string>>;
};

for (const { uid, title } of Object.values(BOARDS))
  test(`a picture of ${title}`, (t) => {
    const picture = readFileSync(join(IMAGES, `${uid}.png`));
    assert.equal(picture.subarray(1, 4).toString(), 'PNG');
    assert.ok(picture.readUInt32BE(16) >= 1600 && picture.readUInt32BE(20) >= 1000, 'as wide and high as a board');
    assert.ok(picture.length > 60_000, `${picture.length} bytes: a blank board is smaller`);
    assert.match(sha256[`${uid}.png`] ?? '', /^[0-9a-f]{64}$/);
    const now = createHash('sha256')
      .update(readFileSync(join(ROOT, 'dashboards/generated', `${uid}.json`)))
      .digest('hex');
    if (now !== sha256[`${uid}.png`]) t.diagnostic(`${uid}.png shows an older board: npm run preview:dashboards`);
  });

test('the README shows the first of them, the runbook all', () => {
  const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  assert.ok(text('README.md').includes('docs/images/tailfin-hidden.png)'));
  for (const { uid } of Object.values(BOARDS)) assert.ok(text('docs/runbook.md').includes(`](images/${uid}.png)`), uid);
});
