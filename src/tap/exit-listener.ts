/** Listeners of the tap for the end of the process. Node warns of many listeners; ours must not be the one too many. */

function allow(more: number): void {
  const most = process.getMaxListeners();
  if (most > 0) process.setMaxListeners(most + more);
}

/** `first`: before those that are there already. */
export function onExit(listener: () => void, { first = false } = {}): void {
  allow(1);
  if (first) process.prependListener('exit', listener);
  else process.on('exit', listener);
}

export function offExit(listener: () => void): void {
  process.removeListener('exit', listener);
  allow(-1);
}
