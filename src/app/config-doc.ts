/** Renders docs/config.md from the table of keys; `npm run generate` writes it. */
import { KEYS, type KeySpec, SERVER_KEYS } from './config-keys.ts';

/** Loads without a problem (tested), and names every key below `servers`. */
export const EXAMPLE_CONFIG = `# tailfin.yaml
events:
  - /var/run/tailfin/events/*.ndjson
  - /var/log/agents/{one,two}/*.ndjson
host: agent-7
metrics_listen: 0.0.0.0:19640

evidence:
  file: /var/run/tailfin/evidence.ndjson
  max_per_second: 20

policy:
  cut_mid: abandoned

thresholds:
  silent_hang_ms: 60000
  periodic_spread: 0.02

servers:
  library:
    sentinel: mandated
    read_only_tools: ["get_*", search]
  "10.0.0.7:8080":                # a NAME may be any text; quotes never hurt
    sticky: true
  replicas:
    match: "*.db.internal:5000"   # a pattern that starts with *: in quotes
    endpoints: virtual
    self_delimiting: true
`;

export function renderConfigDoc(): string {
  const keys: readonly KeySpec[] = Object.values<KeySpec>(KEYS).filter((spec) => !isThreshold(spec));
  const thresholds: readonly KeySpec[] = Object.values<KeySpec>(KEYS).filter(isThreshold);
  const serverKeys: readonly KeySpec[] = Object.values(SERVER_KEYS);
  return `# Configuration

<!-- Generated from src/app/config-keys.ts by \`npm run generate\`; do not edit. -->

One YAML 1.2 file, given with \`--config FILE\`. Everything has a default: an empty file and no file mean the same.
A flag wins over an environment variable, which wins over the file, which wins over the default. Unknown keys are errors.
\`tailfin config check FILE\` names every problem with its line; \`tailfin config print\` shows each effective value and where
it comes from.

## Keys

${table(
  ['Key', 'Value', 'Default', 'Environment', 'Flag', 'Meaning'],
  keys.map((spec) => [code(spec.path), valueText(spec), defaultText(spec), variables(spec), code(spec.flag), spec.doc]),
)}

A second variable, of the OpenTelemetry specification, counts in \`tailfin run\` alone, where nothing else sets the key.

An empty environment variable counts as unset. Other \`TAILFIN_*\` variables are ignored, because Kubernetes sets such names for
a service called \`tailfin\`. A list in a variable or flag is separated by commas (commas inside \`{a,b}\` do not separate).

## Thresholds

When a [finding](findings.md) fires, below \`thresholds\`. Times are in milliseconds. The file alone can set them.

${table(
  ['Key', 'Value', 'Default', 'Meaning'],
  thresholds.map((spec) => [code(spec.path), valueText(spec), defaultText(spec), spec.doc]),
)}

## Servers

What only the operator can state about a server, below \`servers.NAME\`. It wins, key by key, over what the server declares.

${table(
  ['Key', 'Value', 'Default', 'Meaning'],
  serverKeys.map((spec) => [code(spec.path), valueText(spec), defaultText(spec), spec.doc]),
)}

An event's server belongs to the entry of exactly that NAME; else to the first entry of the file whose \`match\` fits.

Globs over server and tool names: \`*\` is any text and \`?\` any one character (\`/\`, \`:\` and dots included: such names are no
paths), \`[0-9]\` a set, \`{a,b}\` either; a backslash takes the meaning off, so an IPv6 address is \`\\[::1\\]:*\`. Upper and lower case
differ. A pattern holds at most four \`*\`; a name longer than 128 characters fits no pattern.
Globs over event files are the usual ones over paths: there \`*\` stops at \`/\`, and \`**\` does not.

## Example

\`\`\`yaml
${EXAMPLE_CONFIG}\`\`\`
`;
}

const isThreshold = ({ path }: KeySpec): boolean => path.startsWith('thresholds.');

function valueText(spec: KeySpec): string {
  switch (spec.type) {
    case 'enum':
      return (spec.values ?? []).map(code).join(' or ');
    case 'boolean':
      return '`true` or `false`';
    case 'listen':
      return 'HOST:PORT';
    case 'share':
      return 'number, 0 to 1';
    case 'url':
      return 'URL';
    case 'count':
      return `number, ${spec.range?.join(' to ') ?? '0 or more'}`;
    case 'file':
      return 'path';
    case 'globs':
    case 'paths':
      return 'glob or list of globs';
    case 'glob':
      return 'glob';
    case 'number':
      return `${spec.whole === true ? 'whole number' : 'number'} above 0, at most ${spec.max}`;
    case 'string':
      return 'text';
  }
}

function defaultText({ default: value }: KeySpec): string {
  if (value === undefined) return 'unset';
  return value === '' || (Array.isArray(value) && value.length === 0)
    ? 'empty'
    : [value]
        .flat()
        .map((each) => code(String(each)))
        .join(', ');
}

const variables = ({ env, standardEnv }: KeySpec): string =>
  [env, standardEnv].flatMap((name) => (name === undefined ? [] : [code(name)])).join(', ');

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
