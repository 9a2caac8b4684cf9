/** What the definitions of commands share: types, and how examples are shown. */
import type { Output } from './output.ts';

export type Options = Readonly<Record<string, unknown>>;
/** What a command does; the number is the exit code. */
export type Action = (output: Output, args: readonly string[], options: Options) => Promise<number> | number;

export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
