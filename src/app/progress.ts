/** Progress of long offline work on a terminal: bytes, rate and time left, from the second second on. */

export interface ProgressPart {
  readonly bytesRead: number;
  readonly totalBytes: number;
}
export interface Progress {
  update(parts: readonly ProgressPart[]): void;
  end(): void;
}

const FIRST_MS = 1000;
const EVERY_MS = 250;

const size = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(2)} GB`
    : bytes >= 1e6
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${Math.round(bytes / 1e3)} kB`;
const duration = (seconds: number): string =>
  seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.max(0, Math.round(seconds))} s`;

/** undefined where nobody watches: stderr is no terminal. */
export function createProgress(stderr: NodeJS.WriteStream, now: () => number = Date.now): Progress | undefined {
  if (!stderr.isTTY) return undefined;
  const start = now();
  let last = start + FIRST_MS - EVERY_MS;
  let shown = false;
  return {
    update(parts) {
      const at = now();
      if (at - last < EVERY_MS) return;
      last = at;
      shown = true;
      const done = parts.reduce((sum, part) => sum + part.bytesRead, 0);
      const total = parts.reduce((sum, part) => sum + part.totalBytes, 0);
      const rate = done / ((at - start) / 1000);
      const left = total > done ? `, ${duration((total - done) / rate)} left` : '';
      const share = total > 0 ? ` of ${size(total)} (${Math.floor((100 * done) / total)} %)` : '';
      stderr.write(`\r\x1b[Kreplaying: ${size(done)}${share}, ${size(rate)}/s${left}`);
    },
    end() {
      if (shown) stderr.write('\r\x1b[K');
    },
  };
}
