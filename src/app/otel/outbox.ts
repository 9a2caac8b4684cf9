/**
 * What waits to be exported, as text: bounded by number and bytes, kept until the backend has it or never will, saved with a checkpoint. At
 * the bound what is new is refused; who offers it counts that. It knows neither what is in the text nor how it is sent.
 */
import { type Part, SLICE } from '../../core/state.ts';

interface Waiting {
  readonly text: string;
  /** How many spans or log records it is. */
  readonly weight: number;
}

export interface Outbox {
  /** false: there is no room, it is not kept. */
  offer(text: string, weight: number): boolean;
  /** The oldest, of about so much weight together (one at least, where there is one). They stay until `done`. */
  batch(weight: number): readonly string[];
  /** The oldest `count` have gone, one way or the other. */
  done(count: number): void;
  /** Weight of all that waits. */
  readonly size: number;
  readonly part: Part;
}

const MAX_BYTES = 8 * 1024 * 1024;

export function createOutbox(maxWeight: number, maxBytes = MAX_BYTES): Outbox {
  const waiting: Waiting[] = [];
  let size = 0;
  let bytes = 0;
  const offer = (text: string, weight: number): boolean => {
    if (size + weight > maxWeight || bytes + text.length > maxBytes) return false;
    waiting.push({ text, weight });
    size += weight;
    bytes += text.length;
    return true;
  };
  return {
    offer,
    batch(most) {
      let weight = 0;
      let count = 0;
      while (count < waiting.length && (count === 0 || weight + (waiting[count] as Waiting).weight <= most))
        weight += (waiting[count++] as Waiting).weight;
      return waiting.slice(0, count).map(({ text }) => text);
    },
    done(count) {
      for (const gone of waiting.splice(0, count)) {
        size -= gone.weight;
        bytes -= gone.text.length;
      }
    },
    get size() {
      return size;
    },
    part: {
      *save() {
        // What goes while the record is written is sent twice rather than lost.
        const all = [...waiting];
        for (let i = 0; i < all.length; i += SLICE) yield all.slice(i, i + SLICE).map((each) => ({ ...each }));
      },
      load(slices) {
        for (const { text, weight } of (slices as Waiting[][]).flat()) offer(text, weight);
      },
    },
  };
}
