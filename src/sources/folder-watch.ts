/**
 * Wakes the reader when something happens in a folder. A hint only: events may be lost, doubled or absent (gVisor, network mounts,
 * no inotify instance left), so nothing may depend on one; every failure here silently leaves the work to polling.
 */
import { type FSWatcher, statSync, watch } from 'node:fs';

/** Each watch costs the kernel memory that all containers of a node share. */
const MAX_FOLDERS = 512;

export interface FolderWatch {
  /**
   * Watches these folders and no others. `complete`: an event will tell of every change in them. `added`: a folder is watched
   * only from now on, so what happened in it since it was listed is not known.
   */
  update(folders: ReadonlySet<string>): { complete: boolean; added: boolean };
  close(): void;
}

/** `names`: a name came, went or changed hands; `content`: what it leads to changed. */
export function createFolderWatch(onEvent: (what: 'names' | 'content', path: string) => void): FolderWatch {
  const watched = new Map<string, { watcher: FSWatcher; inode: number }>();

  function drop(folder: string): void {
    watched.get(folder)?.watcher.close();
    watched.delete(folder);
  }

  function add(folder: string): boolean {
    try {
      const inode = statSync(folder).ino;
      if (watched.get(folder)?.inode === inode) return false;
      drop(folder); // the name leads to another folder now
      const watcher = watch(folder, { persistent: false }, (event, file) =>
        onEvent(event === 'rename' ? 'names' : 'content', `${folder}/${file ?? ''}`),
      );
      watcher.on('error', () => drop(folder));
      watched.set(folder, { watcher, inode });
      return true;
    } catch {
      drop(folder);
      return false;
    }
  }

  return {
    update(folders) {
      for (const folder of watched.keys()) if (!folders.has(folder)) drop(folder);
      let added = false;
      for (const folder of [...folders].slice(0, MAX_FOLDERS)) added = add(folder) || added;
      return { complete: watched.size === folders.size, added };
    },
    close() {
      for (const folder of watched.keys()) drop(folder);
    },
  };
}
