/** What the demo does with the person at the terminal: Ctrl-C, and a sign of life while it runs. */
import type { GatewayEntry } from './gateway.ts';

export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** One signal for everything that ends the demo early. */
export function onInterrupt(outer: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const own = new AbortController();
  const abort = (): void => own.abort();
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    release() {
      process.off('SIGINT', abort);
      process.off('SIGTERM', abort);
    },
  };
}

/** One line that is rewritten on a terminal; a line every five seconds elsewhere. */
export function showProgress(stderr: Sink, log: readonly GatewayEntry[], durationMs: number): { end(): void } {
  const started = Date.now();
  const print = (): void => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const faults = log.filter(({ fault }) => fault !== 'pass').length;
    const text = `demo: ${seconds} s of ${Math.round(durationMs / 1000)} s, ${log.length} requests, ${faults} faults injected`;
    stderr.write(stderr.isTTY ? `\r${text}` : `${text}\n`);
  };
  const timer = setInterval(print, stderr.isTTY ? 500 : 5000);
  return {
    end() {
      clearInterval(timer);
      print();
      if (stderr.isTTY) stderr.write('\n');
    },
  };
}
