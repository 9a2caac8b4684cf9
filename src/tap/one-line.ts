/**
 * The one line that a process may get on stderr from the tap, whatever goes wrong and how often. Worker threads say nothing: they
 * meet what the main thread meets. Never payload: callers pass a path and a code word at most.
 */
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const write = writeSync;
let isSaid = false;

export function sayOnce(text: string): void {
  if (isSaid || !isMainThread) return;
  isSaid = true;
  try {
    write(2, `tailfin-tap: ${text.replace(/[\r\n]+/g, ' ')}\n`);
  } catch {
    // No stderr, or nobody who reads it: not worth a fault in the host.
  }
}
