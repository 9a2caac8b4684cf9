/** A turn for everything else that waits in the event loop: what reads in slices awaits it between two of them. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How long work in slices (reading, taking a record, rendering 10,000 series) lets the rest of the event loop wait. */
export const TURN_MS = 8;

/** To be called between two small pieces of such work, and awaited: gives others a turn where that time is over. */
export function createTurns(elapsed: () => number): () => Promise<void> | undefined {
  let endsAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (elapsed() < endsAt) return undefined;
    return nextTurn().then(() => {
      endsAt = elapsed() + TURN_MS;
    });
  };
}
