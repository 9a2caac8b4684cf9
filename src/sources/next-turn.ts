/** How long work in slices lets the rest of the event loop wait. */

/** A turn for everything else that waits in the event loop: what reads in slices awaits it between two of them. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** To be called between two small pieces of long work, and awaited: gives others a turn where `ms` are over. */
export function turnEvery(ms: number, elapsed: () => number): () => Promise<void> | undefined {
  let endsAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (elapsed() < endsAt) return undefined;
    return nextTurn().then(() => {
      endsAt = elapsed() + ms;
    });
  };
}
