/**
 * What a backend says it did not take. The exporters tell it to OpenTelemetry's diagnostics alone, as JSON, right before they report success;
 * this is the only listener there, so that no text of a backend, and nothing that is sent, reaches a log.
 */
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';

const COUNTS = ['rejectedDataPoints', 'rejectedSpans', 'rejectedLogRecords'] as const;

let latest = 0;

function rejectedOf(json: unknown): number {
  try {
    const said = JSON.parse(String(json)) as Readonly<Record<string, unknown>>;
    const counts = COUNTS.map((name) => Number(said[name] ?? 0));
    return counts.reduce((sum, each) => sum + (Number.isSafeInteger(each) && each > 0 ? each : 0), 0);
  } catch {
    return 0;
  }
}

const silent = (): void => {};
const listener: DiagLogger = {
  error: silent,
  warn(message, ...more) {
    if (message.startsWith('Received Partial Success')) latest = rejectedOf(more[0]);
  },
  info: silent,
  debug: silent,
  verbose: silent,
};

/** Instead of whatever listened there, the SDK's own logger included. */
export function listenForPartialSuccess(): void {
  diag.setLogger(listener, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Entries that the export which has just succeeded left behind. */
export function takePartial(): number {
  const rejected = latest;
  latest = 0;
  return rejected;
}
