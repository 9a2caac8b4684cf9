/**
 * Times of the latest events of one key, for rules of the kind "N in a window": true once per crossing, armed again below it. A
 * verdict may come a minute late (a stream that waited for a resume), so times are compared, not the order of arrival.
 */

export interface Recent {
  /** Event time of the latest one. */
  ts: number;
  /** In the order of arrival. */
  times: number[];
  armed: boolean;
  /** The span of the crossing that was told last. */
  from: number;
  to: number;
}

export const createRecent = (ts: number): Recent => ({
  ts,
  times: [],
  armed: true,
  from: Number.POSITIVE_INFINITY,
  to: Number.NEGATIVE_INFINITY,
});

/** So many times of what is needed are kept: more of them decide nothing. */
const KEPT = 3;

export function crosses(recent: Recent, ts: number, count: number, windowMs: number): boolean {
  const isLate = ts < recent.ts;
  recent.ts = Math.max(recent.ts, ts);
  // Not pushed to an empty list, which would make room for 17: most keys of a flood come once.
  if (recent.times.length === 0) recent.times = [ts];
  else recent.times.push(ts);
  if (recent.times.length > KEPT * count) recent.times.shift();
  if (!isCrossed(recent.times, ts, count, windowMs)) {
    if (!isLate) recent.armed = true;
    return false;
  }
  const isNew = isLate ? ts < recent.from - windowMs || ts > recent.to + windowMs : recent.armed;
  recent.from = isNew ? ts : Math.min(recent.from, ts);
  recent.to = isNew ? ts : Math.max(recent.to, ts);
  if (!isLate) recent.armed = false;
  return isNew;
}

/** Is there a window that holds `ts` and `count` of the times? */
function isCrossed(times: readonly number[], ts: number, count: number, windowMs: number): boolean {
  if (times.length < count) return false;
  const near = times.filter((time) => Math.abs(time - ts) <= windowMs).sort((a, b) => a - b);
  return near.some((first, i) => {
    const last = near[i + count - 1];
    return last !== undefined && last - first <= windowMs && first <= ts && ts <= last;
  });
}
