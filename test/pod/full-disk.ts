/** A folder that becomes a small file system of its own for a while, where mounting is allowed. It must be unmounted in any case. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Less than one host writes. */
const SIZE = '32k';

const mount = (folder: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=1777`, 'tmpfs', folder], { encoding: 'utf8' });
const unmount = (folder: string) => spawnSync('umount', ['--lazy', folder], { encoding: 'utf8' });

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-mount-'));
  const isMounted = mount(folder).status === 0;
  if (isMounted) unmount(folder);
  rmdirSync(folder);
  return isMounted;
}

export const fullDisk = {
  skip: process.getuid?.() === 0 && canMount() ? false : 'skipped: needs the right to mount',
  /** `usage`: the part of the file system that is taken, 0 to 1. */
  async around<T>(folder: string, run: (usage: () => number) => Promise<T>): Promise<T> {
    const { status, stderr } = mount(folder);
    assert.equal(status, 0, stderr);
    try {
      return await run(() => {
        const { blocks, bfree } = statfsSync(folder);
        return 1 - bfree / blocks;
      });
    } finally {
      unmount(folder);
    }
  },
};
