/**
 * Memory is what a sidecar costs its pod, and V8 gives its default young generation up to 48 MB for a few per cent of CPU. The
 * sizes are command line flags that `tailfin` cannot count on being started with; how they grow can be set while it runs.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Both halves: 2 MB each hold the garbage of some 1,000 lines, so that little of what is short-lived is ever copied. */
const YOUNG_BYTES = 4 * 1024 * 1024;

let held = false;

/**
 * Old objects are collected before they have grown by more than a tenth. Young ones on one thread: there are so few alive at a time that
 * to wake others, and to wait for them, is a tenth of all CPU.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=10');
  setFlagsFromString('--no-parallel-scavenge');
}

/** Call now and then until the young generation has its size: it stops growing there. */
export function holdYoungGeneration(): void {
  if (held) return;
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  if (young === undefined || young.space_size < YOUNG_BYTES) return;
  setFlagsFromString('--semi-space-growth-factor=1');
  held = true;
}
