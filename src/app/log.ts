/** Log lines as JSON on stderr: one object a line with ts (RFC 3339), level and msg. */

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

export type Logger = (level: Level, msg: string, fields?: Readonly<Record<string, string | number | boolean>>) => void;

export function createLogger(least: Level, write: (line: string) => void, now: () => Date = () => new Date()): Logger {
  const threshold = LEVELS.indexOf(least);
  return (level, msg, fields) => {
    if (LEVELS.indexOf(level) < threshold) return;
    write(`${JSON.stringify({ ts: now().toISOString(), level, msg, ...fields })}\n`);
  };
}
