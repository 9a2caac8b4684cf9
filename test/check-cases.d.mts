/** Types of what test/scenarios.test.ts takes from the script. */
export interface CheckedExposition {
  readonly known: ReadonlySet<string>;
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}
export function parseProm(text: string): CheckedExposition;
export function checksOf(text: string): string[];
export function checkLine(
  line: string,
  exposition: CheckedExposition,
  records: readonly Readonly<Record<string, unknown>>[],
): string | null;
export function casesIn(dir: string): string[];
