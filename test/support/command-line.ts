/** The command line of a script of the tests: its options, `--help`, and exit code 2 with the help on bad usage. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

export function failUsage(help: string, problem: string): never {
  console.error(`${problem}\n\n${help}`);
  process.exit(2);
}

/** `options` has `help: { type: 'boolean' }`. */
export function commandLine<T extends NonNullable<ParseArgsConfig['options']>>(help: string, options: T) {
  let values: ReturnType<typeof parseArgs<{ options: T }>>['values'];
  try {
    values = parseArgs({ options }).values;
  } catch (error) {
    return failUsage(help, (error as Error).message);
  }
  if ((values as { help?: boolean }).help) {
    console.log(help);
    process.exit(0);
  }
  return values;
}
