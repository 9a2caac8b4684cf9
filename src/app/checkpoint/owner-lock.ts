/**
 * One owner per state folder: an abstract unix socket named after the folder's device and inode. The kernel takes it back when the
 * process is gone, however it went; a file with a process id would lie after a crash, and say nothing across containers. It holds
 * among the processes of one network namespace (a pod), on Linux.
 */
import { mkdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { RuntimeFailure, reasonOf } from '../exit.ts';

export interface OwnerLock {
  release(): void;
}

const NOBODY: OwnerLock = { release() {} };

/**
 * A folder that cannot be had has no owner: its checkpoints fail, and say so. @throws RuntimeFailure where another process owns it.
 */
export async function ownFolder(folder: string): Promise<OwnerLock> {
  if (process.platform !== 'linux') return NOBODY;
  let name: string;
  try {
    await mkdir(folder, { recursive: true });
    const { dev, ino } = await stat(folder, { bigint: true });
    name = `\0tailfin-state-${dev}-${ino}`;
  } catch {
    return NOBODY;
  }
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(name, resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    throw new RuntimeFailure(
      error.code === 'EADDRINUSE'
        ? `state_dir: ${folder} belongs to another tailfin that is running`
        : `state_dir: cannot own ${folder}: ${reasonOf(error)}`,
    );
  });
  server.unref();
  return { release: () => void server.close() };
}
