/** The seeded list of tool calls that a demo host makes. Every call has arguments of its own: only a retry repeats them. */
import { seededRandom } from './faults.ts';

export interface ToolCall {
  readonly tool: 'export_rows' | 'place_order' | 'lookup';
  readonly args: Record<string, number>;
}

const MIN_EXPORT_BYTES = 1024;
const MAX_EXPORT_BYTES = 512 * 1024;

/** Call number `n` of a run: about 60 % exports (sizes log-uniform), 28 % orders, 12 % lookups. */
export function toolCall(seed: number, n: number): ToolCall {
  const random = seededRandom(seed, `call ${n}`);
  const kind = random();
  if (kind < 0.6) {
    const bytes = Math.round(MIN_EXPORT_BYTES * (MAX_EXPORT_BYTES / MIN_EXPORT_BYTES) ** random());
    return { tool: 'export_rows', args: { page: n, bytes } };
  }
  if (kind < 0.88) return { tool: 'place_order', args: { order: n, quantity: 1 + Math.floor(random() * 9) } };
  return { tool: 'lookup', args: { article: n } };
}
