/** Types of what test/backlog.test.ts takes from the script. */
export interface Backlog {
  /** CPU seconds of the whole life. */
  readonly cpuSeconds: number;
  readonly maxRssMib: number;
  /** Commits of checkpoints. */
  readonly checkpoints: number;
  /** What /metrics said when all was read. */
  readonly text: string;
}
export function readBacklog(main: string, file: string): Promise<Backlog>;
