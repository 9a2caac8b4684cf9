/** Times of the latest events of one key, for rules of the kind "N in a window": true once per crossing, armed again below it. */

export interface Recent {
  /** Event time of the latest one. */
  ts: number;
  times: number[];
  armed: boolean;
}

export const createRecent = (ts: number): Recent => ({ ts, times: [], armed: true });

/** At most `count` times are kept: more of them decide nothing. */
export function crosses(recent: Recent, ts: number, count: number, windowMs: number): boolean {
  recent.ts = Math.max(recent.ts, ts);
  const oldest = recent.ts - windowMs;
  const kept = recent.times.filter((time) => time >= oldest);
  if (kept.length < recent.times.length && kept.length + 1 < count) recent.armed = true;
  if (ts >= oldest) kept.push(ts);
  recent.times = kept.slice(-count);
  if (recent.times.length < count) {
    recent.armed = true;
    return false;
  }
  if (!recent.armed) return false;
  recent.armed = false;
  return true;
}
