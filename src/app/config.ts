/** The one door to a configuration with a file: reads it and merges it with the environment and the flags. */
import { readConfigFile } from './config-file.ts';
import type { Config } from './config-keys.ts';
import { type ConfigInput, mergeConfig, NO_FILE } from './config-merge.ts';

export type { Config, ListenAddress, ServerConfig } from './config-keys.ts';
export { formatListen } from './config-keys.ts';
export { ConfigError, type ConfigInput } from './config-merge.ts';
export { toPolicy } from './config-policy.ts';
export { printConfig } from './config-print.ts';

/** @throws ConfigError with all problems: those of the file by line, then the environment, then the flags. */
export function loadConfig(input: ConfigInput): Config {
  const problems: string[] = [];
  const content = input.file === undefined ? NO_FILE : readConfigFile(input.file, problems);
  return mergeConfig(input, content, problems);
}
