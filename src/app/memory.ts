/**
 * Memory is what a sidecar costs its pod, and V8 gives its default young generation up to 48 MB for a few per cent of CPU. The
 * sizes are command line flags that `tailfin` cannot count on being started with; how they grow can be set while it runs.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const MB = 1024 * 1024;
/** Both halves: 2 MB each hold the garbage of some 1,000 lines, so that little of what is short-lived is ever copied. */
const YOUNG_BYTES = 4 * MB;
/** Free room in old pages that is worth moving objects for: this much, and a sixteenth of them. A healthy host seldom comes here. */
const SPARSE_BYTES = 8 * MB;
const SPARSE_PART = 1 / 16;
/** Of more than this the same rule collects all the time: pauses of 100 ms and more while a checkpoint of full stores is taken. */
const TIDY_BYTES = 192 * MB;
/** Asking costs some 10 us; while the young generation grows it must not miss its size. */
const CALLS_PER_LOOK = 16;

/**
 * Old objects are collected before they have grown by more than a tenth. Young ones on one thread: there are so few alive at a time that
 * to wake others, and to wait for them, is a tenth of all CPU.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=10');
  setFlagsFromString('--no-parallel-scavenge');
}

let calls = 0;
let isYoungHeld = false;
let isCompacting = false;
let usedBefore = 0;

/** Call now and then, as work is done. */
export function tendHeap(): void {
  if (isYoungHeld && calls++ % CALLS_PER_LOOK !== 0) return;
  for (const { space_name: name, space_size: size, space_used_size: used } of getHeapSpaceStatistics())
    if (name === 'new_space') holdYoungGeneration(size);
    else if (name === 'old_space') compactSparsePages(size, used);
}

/** Once the young generation has its size it stops growing. Collections that save memory shrink it: then it may grow back. */
function holdYoungGeneration(size: number): void {
  const hasItsSize = size >= YOUNG_BYTES;
  if (hasItsSize === isYoungHeld) return;
  setFlagsFromString(`--semi-space-growth-factor=${hasItsSize ? 1 : 2}`);
  isYoungHeld = hasItsSize;
}

/**
 * V8 moves objects together only on pages that are nearly empty, and a page with one object left is not given back: where failed calls
 * with names of their own come and go, a third of the old pages is such room. Its collector then gets the rule that it has for small
 * devices (pages that are a fifth free) until that room is used.
 */
function compactSparsePages(size: number, used: number): void {
  // Only what a collection has left says what is free: in between garbage fills it.
  const isCollected = used < usedBefore;
  usedBefore = used;
  if (!isCollected) return;
  const isSparse = size < TIDY_BYTES && size - used > Math.max(SPARSE_BYTES, SPARSE_PART * size);
  if (isSparse === isCompacting) return;
  setFlagsFromString(isSparse ? '--optimize-for-size' : '--no-optimize-for-size');
  isCompacting = isSparse;
}
