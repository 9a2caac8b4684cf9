/** What every child process of the demo shares: it reports through IPC, ignores Ctrl-C, and never outlives its parent. */

/** Ctrl-C reaches the whole process group; the parent decides when its children end. */
export function followParent(onStop: () => void): void {
  process.on('SIGINT', () => {});
  process.once('disconnect', onStop);
  process.on('message', (message) => {
    if (message === 'stop') onStop();
  });
}

export const report = (message: object): void => {
  process.send?.(message);
};
