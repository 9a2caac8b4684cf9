/** What a timer queue (store.ts) asks of its items. */

/** Something that is due at `deadline` (Unix ms of event time; Infinity = not due at all). */
export interface Due {
  deadline: number;
  /** Its place in the queue; owned by the queue. */
  place: Place | null;
}
export interface Place {
  /** The deadline it is sorted by: never later than the item's own. */
  at: number;
  index: number;
}
