/** Types of what test/load.test.ts takes from the script. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
type Counts = Readonly<Record<string, number>>;
export interface Tally {
  readonly lines: number;
  readonly bytes: number;
  readonly operationsStarted: number;
  readonly firstTs: number;
  readonly lastTs: number;
  readonly closes: Counts;
  readonly judged: Counts;
  readonly abandoned: Counts;
  readonly operations: Counts;
  readonly retries: Counts;
}
export function parseExposition(text: string): Sample[];
export function total(samples: readonly Sample[], name: string, where?: Readonly<Record<string, string>>): number;
export function differences(samples: readonly Sample[], tally: Tally): string[];
