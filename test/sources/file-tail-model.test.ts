/**
 * Random rotations, losses, crashes and restarts against a model: no line is delivered twice, none is missing but those that went away
 * before the reader could have them, what was seen and went away is counted, and time never passes an unread line.
 * TEST_SEED repeats a run; a failure prints the seed of its sequence and what was done.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SEED } from '../support/property.ts';
import { dice } from '../support/random.ts';
import { createDrivenRig, numberOf } from './driven-rig.ts';
import { createModel } from './rotation-model.ts';

const SEQUENCES = 2200;
const F = 'f.ndjson';

const ACTIONS = [
  ...['append', 'append', 'append', 'half', 'look', 'look', 'turn', 'settle', 'settle'],
  ...['rotate', 'rotateAway', 'rename', 'hold', 'writeHeld', 'oldWriter'],
  ...['truncate', 'truncate', 'regrow', 'remove', 'recreate', 'removeOld', 'save', 'replace', 'link', 'linked'],
  ...['keep', 'keep', 'crash', 'restart', 'commit'],
] as const;
type Action = (typeof ACTIONS)[number];

interface Tally {
  lost: number;
  counted: number;
  crashes: number;
  lines: number;
}

async function playOut(folder: string, seed: string, tally: Tally): Promise<void> {
  const { int, pick, chance } = dice(seed);
  const steps: string[] = [];
  mkdirSync(folder);
  const rig = createDrivenRig({
    folder,
    globs: ['f.ndjson', 'f.ndjson.*', 'link'],
    sliceBytes: pick([16, 200, 65_536]),
    maxOpenFiles: pick([1, 2, 64]),
    graceMs: pick([0, 20_000]),
    renamedGraceMs: 10_000_000,
    onAdvance(watermark) {
      const delivered = seen();
      for (const { n, ts } of model.present())
        assert.ok(ts >= watermark || delivered.has(n), `time ${watermark} passed line ${n} of ${ts}`);
    },
  });
  const model = createModel(folder, () => rig.clock.now);
  const seen = () => new Set(rig.delivered.map(numberOf));
  let kept = rig.keep();
  model.kept();

  /** Those that the reader must have by now. */
  function assertAllPresent(): void {
    const delivered = seen();
    const missing = model.present().filter(({ n }) => !delivered.has(n));
    assert.deepEqual(
      missing.map(({ n }) => n),
      [],
      'there and not delivered',
    );
  }
  const keep = () => {
    kept = rig.keep();
    model.kept();
  };
  async function look(): Promise<void> {
    await rig.look();
    model.looked();
  }
  async function settle(): Promise<void> {
    await rig.settle();
    model.looked();
    assertAllPresent();
  }
  const olds = () => model.files.flatMap(({ name }) => (name?.startsWith(`${F}.`) ? [name] : []));

  const run: Record<Action, () => void | Promise<void>> = {
    append: () => model.append(F, 1 + int(4)),
    half: () => model.half(F),
    look,
    turn: () => void rig.turn(),
    settle,
    rotate() {
      model.rename(F, F);
      model.append(F, 1 + int(3));
    },
    // A file under a name that no pattern matches is known only to a reader that saw it before.
    async rotateAway() {
      await look();
      keep();
      model.rename(F, 'away');
      model.append(F, int(3));
    },
    rename: () => model.rename(F, F),
    hold: () => model.hold(F),
    writeHeld: () => model.writeHeld(1 + int(3)),
    oldWriter() {
      const names = olds();
      if (names.length > 0) model.append(pick(names), 1 + int(3));
    },
    truncate: () => model.truncate(F, 0),
    regrow: () => model.truncate(F, 1 + int(12)),
    remove: () => model.remove(F),
    recreate() {
      model.remove(F);
      model.append(F, int(9));
    },
    removeOld() {
      const names = olds();
      if (names.length > 0) model.remove(pick(names));
    },
    // Which file is a new version of which can be told only by one that knows the old one.
    async save() {
      model.complete();
      await settle();
      model.save(F, int(3));
      await settle();
      keep();
    },
    replace: () => model.replace(F, 1 + int(9)),
    // A file that no name leads to while the reader looks is none of its.
    async link() {
      model.complete();
      await settle();
      model.link('link', pick(['s1', 's2']));
      await settle();
      keep();
    },
    linked: () => model.linked(1 + int(2)),
    keep,
    crash() {
      tally.crashes++;
      rig.resume(kept);
      model.dropped();
    },
    restart() {
      keep();
      rig.resume(kept);
    },
    commit: () => rig.committed(),
  };
  try {
    for (let left = 4 + int(14); left > 0; left--) {
      const action = pick(ACTIONS);
      steps.push(action);
      rig.pass(chance(0.5) ? 1 : 500);
      await run[action]();
    }
    model.complete();
    await settle();
    await rig.look(120_000);
    await settle();

    const numbers = rig.delivered.map(numberOf);
    const delivered = new Set(numbers);
    assert.equal(
      delivered.size,
      numbers.length,
      `delivered twice: ${numbers.filter((n, i) => numbers.indexOf(n) !== i)}`,
    );
    let least = 0;
    let most = 0;
    const accounted = new Set(model.present().map(({ n }) => n));
    for (const { how, file, lines } of model.gone) {
      let start = 0;
      for (const { n, end } of lines) {
        accounted.add(n);
        if (!delivered.has(n)) {
          most += end - start;
          if (how === 'removed' && end <= file.seen) least += end - start;
        }
        start = end;
      }
      most += file.size - Math.min(file.size, start);
    }
    const missing = Array.from({ length: model.written() }, (_, n) => n).filter((n) => !delivered.has(n));
    assert.deepEqual(
      missing.filter((n) => !accounted.has(n)),
      [],
      'missing, though never lost',
    );
    const lostRotated = rig.counted('lost_rotated_bytes');
    assert.ok(lostRotated >= least, `${lostRotated} bytes counted as lost, at least ${least} are`);
    const lost = lostRotated + rig.counted('lost_truncated_bytes');
    assert.ok(lost <= most, `${lost} bytes counted as lost, at most ${most} are`);
    tally.lost += missing.length;
    tally.counted += lost;
    tally.lines += model.written();
  } catch (error) {
    const story = [`sequence ${seed}: ${steps.join(' ')}`, model.dump(), ...rig.logs, (error as Error).stack];
    throw new Error(story.join('\n'));
  } finally {
    rig.stop();
    model.close();
  }
}

test(`tail: ${SEQUENCES} random sequences of rotation, loss, crash and restart against a model`, async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tailfin-model-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const tally: Tally = { lost: 0, counted: 0, crashes: 0, lines: 0 };
  const only = process.env.TEST_SEQUENCE;
  for (let i = 0; i < SEQUENCES; i++) {
    const folder = join(root, String(i));
    if (only === undefined || only === String(i)) await playOut(folder, `${SEED}/${i}`, tally);
    rmSync(folder, { recursive: true, force: true });
  }
  t.diagnostic(JSON.stringify(tally));
  if (only === undefined) assert.ok(tally.lost > 0 && tally.counted > 0 && tally.crashes > 500, JSON.stringify(tally));
});
