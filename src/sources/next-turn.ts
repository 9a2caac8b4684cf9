/** A turn for everything else that waits in the event loop: what reads in slices awaits it between two of them. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
