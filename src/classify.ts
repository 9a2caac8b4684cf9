/**
 * `tailfin/classify`: the verdict rule of Tailfin as a function, so that a client can fail closed with the very same rule that
 * its sidecar counts by.
 *
 * @module
 */
import { type Decision, decide } from './core/stages/classify.ts';
import type { StreamFacts } from './core/stages/stream-facts.ts';

/** What a client knows about a response stream that has ended without a transport error. */
export interface StreamOutcomeInput {
  /** The JSON-RPC response with the id of the request (the completion sentinel) was received. */
  readonly sawTerminalSentinel: boolean;
  /** The payload proves its own completeness: one JSON document, a declared length or digest. */
  readonly payloadSelfDelimiting: boolean;
  /** That proof holds. Looked at only for a self-delimiting payload. */
  readonly payloadIntegrityOk: boolean;
  /** Discovery is sticky for the logical request. It changes the advice, never the outcome: a probe proves nothing. */
  readonly discoverySticky: boolean;
  /** For the error only: where the bytes stop, and how many there were. */
  readonly cut?: 'none' | 'boundary' | 'mid';
  readonly bytes?: number;
}

export type StreamOutcome = 'clean' | 'abandoned';

/**
 * Neither a terminal message nor a self-delimiting payload: whether the stream was complete or cut cannot be told (regime C).
 * Do not retry by default: a silent retry hides the loss, and a write may run twice.
 */
export class StreamCompletionAmbiguousError extends Error {
  override readonly name = 'StreamCompletionAmbiguousError';
  readonly code = 'STREAM_COMPLETION_AMBIGUOUS';
  readonly retryable = false;
  readonly discoverySticky: boolean;
  readonly cut: 'none' | 'boundary' | 'mid' | 'unknown';
  readonly bytes: number | undefined;

  constructor(input: Pick<StreamOutcomeInput, 'discoverySticky' | 'cut' | 'bytes'>) {
    const cut = input.cut ?? 'unknown';
    const size = input.bytes === undefined ? '' : ` after ${input.bytes} bytes`;
    const where = cut === 'mid' ? ', inside an event or token' : '';
    const probe = input.discoverySticky
      ? 'sticky discovery does not tell whether the earlier attempt was complete'
      : 'a retry may reach another instance that knows nothing of this attempt';
    super(
      `the response stream ended${size}${where} without a terminal message, and its payload is not self-delimiting: complete or cut cannot be told; ${probe}`,
    );
    this.discoverySticky = input.discoverySticky;
    this.cut = cut;
    this.bytes = input.bytes;
  }
}

/**
 * The outcome of a response stream that ended in an orderly way (`eof` by the peer) where the server's contract does not mandate
 * a terminal message.
 *
 * @returns `clean` or `abandoned`.
 * @throws {StreamCompletionAmbiguousError} when nothing proves either.
 * @example
 * classifyStreamOutcome({ sawTerminalSentinel: false, payloadSelfDelimiting: true, payloadIntegrityOk: false, discoverySticky: false })
 * // 'abandoned'
 */
export function classifyStreamOutcome(input: StreamOutcomeInput): StreamOutcome {
  const { outcome } = decide(factsOf(input)) as Decision;
  if (outcome === 'ambiguous') throw new StreamCompletionAmbiguousError(input);
  return outcome;
}

function factsOf(input: StreamOutcomeInput): StreamFacts {
  return {
    kind: 'response',
    head: true,
    notSent: false,
    how: 'eof',
    terminal: input.sawTerminalSentinel,
    media: 'unknown',
    selfDelimiting: input.payloadSelfDelimiting,
    whole: input.payloadSelfDelimiting ? (input.payloadIntegrityOk ? 'whole' : 'cut') : 'unknown',
    gaveUp: null,
    byClient: false,
    serverCancelled: false,
    eventId: false,
    carrierLost: false,
    status: 200,
    cut: input.cut ?? 'unknown',
    mandated: false,
    cutMid: 'ambiguous',
  };
}
