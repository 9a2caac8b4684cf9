/**
 * How far a source has come that hears several senders at once: the least of the newest times of those that sent something lately,
 * as files are followed. A sender is a connection; those that have closed theirs count as one, since who sends each batch by a
 * connection of its own cannot be told from the next.
 */
interface Heard {
  /** Event time, Unix ms. */
  newest: number;
  at: number;
}

export interface Senders {
  delivered(sender: object, newest: number, now: number): void;
  closed(sender: object): void;
  /** undefined: nobody sent anything within the last `activeMs`. */
  least(now: number): number | undefined;
}

export function createSenders(activeMs: number): Senders {
  const open = new Map<object, Heard>();
  const gone: Heard = { newest: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  const raise = (heard: Heard, { newest, at }: Heard): void => {
    heard.newest = Math.max(heard.newest, newest);
    heard.at = Math.max(heard.at, at);
  };
  return {
    delivered(sender, newest, now) {
      const heard = open.get(sender);
      if (heard === undefined) open.set(sender, { newest, at: now });
      else raise(heard, { newest, at: now });
    },
    closed(sender) {
      const heard = open.get(sender);
      if (heard === undefined) return;
      open.delete(sender);
      raise(gone, heard);
    },
    least(now) {
      let least = Number.POSITIVE_INFINITY;
      for (const heard of [...open.values(), gone])
        if (heard.at > now - activeMs && heard.newest < least) least = heard.newest;
      return least === Number.POSITIVE_INFINITY ? undefined : least;
    },
  };
}
