/** Commands and options (design section 9). The work is in the command modules; heavy ones are loaded when they are called. */
import { Command, CommanderError, Option } from 'commander';
import { plain } from '../exporters/plain.ts';
import { createBoundedWriter } from './bounded-writer.ts';
import { CHECK_FORMATS, type CheckFormat } from './check-formats.ts';
import { addInjectCommands } from './cli-inject.ts';
import { type Action, collect, examples, type Options } from './cli-parts.ts';
import { FORMATS } from './command-replay.ts';
import { type Config, KEYS, type KeySpec } from './config-keys.ts';
import { ConfigError, mergeConfig } from './config-merge.ts';
import { EXIT, RuntimeFailure } from './exit.ts';
import { createLogger } from './log.ts';
import { createOutput, ReaderGone } from './output.ts';
import { stopSignal } from './stop-signal.ts';
import { VERSION } from './version.ts';

const warn = (warning: string): void => {
  process.stderr.write(`tailfin: warning: ${plain(warning)}\n`);
};

async function load(options: Options, file = options.config as string | undefined): Promise<Config> {
  const input = { file, env: process.env, flags: options };
  if (file === undefined) return mergeConfig(input);
  const { loadConfig } = await import('./config.ts');
  return loadConfig(input);
}

/** Flags of the configuration keys, from their table. */
function addConfigOptions(command: Command, only?: readonly (keyof typeof KEYS)[]): Command {
  command.option('-c, --config <file>', 'configuration file (YAML)');
  for (const [field, spec] of Object.entries<KeySpec>(KEYS)) {
    if (spec.flag === undefined || (only !== undefined && !only.includes(field as keyof typeof KEYS))) continue;
    const value = spec.type === 'enum' ? spec.values?.join('|') : spec.type;
    const option = new Option(spec.type === 'boolean' ? spec.flag : `${spec.flag} <${value}>`, spec.doc);
    if (spec.type === 'paths') option.argParser(collect);
    command.addOption(option);
  }
  return command;
}

function commands(program: Command, action: (run: Action) => (...args: unknown[]) => Promise<void>): void {
  addConfigOptions(program.command('run'))
    .description('follow event files and serve /metrics until SIGTERM')
    .addHelpText(
      'after',
      examples(
        'tailfin run                                    # /var/run/tailfin/events/*.ndjson, metrics on port 19640',
        "tailfin run --events './events/*.ndjson' --metrics-listen 127.0.0.1:9999",
        'TAILFIN_EVENTS=/tmp/events.ndjson tailfin run --config tailfin.yaml',
        'tailfin run --ingest                           # also POST /v1/events on 127.0.0.1:19641',
        'tailfin run --ingest-otlp                      # also spans and logs by OTLP/HTTP, on the same address',
      ),
    )
    .action(
      action(async (_output, _args, options) => {
        const { run } = await import('./run.ts');
        const config = await load(options);
        const log = createLogger(config.logLevel, createBoundedWriter(process.stderr).write);
        return run({ config, log, signal: stopSignal() });
      }),
    );

  addConfigOptions(program.command('replay'), ['host', 'policyCutMid'])
    .description('report over recorded event files, offline; at the end every window is closed')
    .argument('<file...>', 'NDJSON event files, merged by time; - is stdin')
    .addOption(new Option('-f, --format <format>', 'output format').choices([...FORMATS]).default('text'))
    .addHelpText(
      'after',
      examples(
        'tailfin replay events.ndjson                   # a report to read',
        'tailfin replay --format json *.ndjson | jq .   # one record a line: verdict, operation, finding',
        'tailfin replay --format prom - < events.ndjson # the exposition text',
      ),
    )
    .action(
      action(async (output, files, options) => {
        const { replayCommand } = await import('./command-replay.ts');
        return replayCommand(files, options.format as (typeof FORMATS)[number], await load(options), output);
      }),
    );

  addConfigOptions(program.command('check'), ['host', 'policyCutMid'])
    .description('fail when recorded event files show a finding of the named rules: a gate for CI, offline')
    .argument('<file...>', 'NDJSON event files, merged by time; - is stdin')
    .option('--fail-on <rule,...>', 'rules that fail the check (docs/findings.md), or `all`; required', collect)
    .addOption(new Option('-f, --format <format>', 'output format').choices([...CHECK_FORMATS]).default('text'))
    .addHelpText(
      'after',
      examples(
        'tailfin check events.ndjson --fail-on unsafe_retry,uncertain_write',
        'tailfin check *.ndjson --fail-on all --format junit > tailfin-junit.xml',
        'tailfin check *.ndjson --fail-on all --format sarif > tailfin.sarif',
      ),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 no finding of these rules, 1 findings, 2 usage or configuration, 3 unreadable, or no event in it.',
    )
    .action(
      action(async (output, files, options) => {
        const { checkCommand } = await import('./command-check.ts');
        const failOn = (options.failOn ?? []) as readonly string[];
        const format = options.format as CheckFormat;
        return checkCommand({ files, failOn, format, config: await load(options), warn }, output);
      }),
    );

  addConfigOptions(program.command('explain'), ['host', 'policyCutMid'])
    .description('the story of one operation: its lines, the rule that decided, what would have changed the verdict')
    .argument('<file...>', 'NDJSON event files, merged by time; - is stdin')
    .option('-x, --exchange <id>', 'the operation that this exchange belongs to, or the exchange itself')
    .option('-o, --operation <key>', 'by the key that `replay --format json` prints; default: the worst operation')
    .addHelpText(
      'after',
      examples(
        'tailfin explain events.ndjson                  # the worst operation, and others to choose from',
        'tailfin explain events.ndjson --exchange a2',
        'tailfin explain *.ndjson --operation h:aa --config tailfin.yaml',
      ),
    )
    .action(
      action(async (output, files, options) => {
        const { explainCommand } = await import('./command-explain.ts');
        const { exchange, operation } = options as Record<string, string | undefined>;
        return explainCommand({ files, exchange, operation, config: await load(options), warn }, output);
      }),
    );

  program
    .command('demo')
    .description('real MCP clients and servers with faults between them: what the error rate says, what it hides')
    .option('--once', 'stop after the report; exit 1 if a signal is missing or a verdict is wrong')
    .addHelpText('after', examples('tailfin demo', 'tailfin demo --once'))
    .action(
      action(async (_output, _args, options) => {
        const { runDemo } = await import('../demo/demo.ts');
        const { stdout, stderr } = process;
        return runDemo({ once: options.once === true, signal: stopSignal(), stdout, stderr });
      }),
    );

  program
    .command('schema')
    .description('print the JSON Schema of an event line')
    .addHelpText('after', examples('tailfin schema > event.schema.json'))
    .action(
      action(async (output) => {
        const { renderSchema } = await import('./schema-doc.ts');
        output.write(renderSchema());
        return EXIT.ok;
      }),
    );

  program
    .command('install-tap')
    .description('copy the Node tap into a folder, make the events folder, print the environment of the host')
    .argument('<dir>', 'folder that hosts can read; made when missing')
    .option('--events <dir>', 'folder that hosts write events to (default: /var/run/tailfin/events)')
    .addHelpText(
      'after',
      examples(
        'tailfin install-tap /var/run/tailfin/tap       # in an init container, on a volume shared with the host',
        'tailfin install-tap ./tap --events ./events    # prints NODE_OPTIONS=... and TAILFIN_TAP_DIR=...',
      ),
    )
    .action(
      action(async (output, [folder], options) => {
        const { installTap } = await import('./command-install-tap.ts');
        const lines = installTap({ folder: folder as string, events: options.events as string | undefined });
        output.write(`${lines.join('\n')}\n`);
        return EXIT.ok;
      }),
    );

  addInjectCommands(program, action, warn);

  const config = program
    .command('config')
    .description('check or print the configuration')
    .addHelpText('after', examples('tailfin config check tailfin.yaml', 'tailfin config print'));
  config
    .command('check')
    .description('report every problem of a configuration file, with its line')
    .argument('<file>')
    .addHelpText('after', examples('tailfin config check tailfin.yaml'))
    .action(
      action(async (output, [file], options) => {
        await load(options, file);
        output.write(`${file}: ok\n`);
        return EXIT.ok;
      }),
    );
  addConfigOptions(config.command('print'))
    .description('print the effective configuration and where each value comes from')
    .argument('[file]')
    .addHelpText('after', examples('tailfin config print', 'TAILFIN_FROM=end tailfin config print tailfin.yaml'))
    .action(
      action(async (output, [file], options) => {
        const { printConfig } = await import('./config.ts');
        output.write(printConfig(await load(options, file ?? (options.config as string | undefined))));
        return EXIT.ok;
      }),
    );
}

/** Runs one command line; returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const output = createOutput(process.stdout);
  const program = new Command('tailfin')
    .description(
      'Shows what the error rate of an MCP host hides: ambiguous closes, retries masked by endpoint rotation,\nparse failures that grow with response length.',
    )
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.write(text) })
    .showHelpAfterError('(see tailfin --help)')
    .addHelpText('after', examples('tailfin demo', 'tailfin replay events.ndjson', 'tailfin run --config tailfin.yaml'))
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 findings or a failed demo, 2 usage or configuration, 3 runtime failure.',
    );
  // Commander passes the arguments one by one, then the options, then the command.
  commands(program, (run) => async (...given) => {
    const options = given.at(-2) as Options;
    const args = given
      .slice(0, -2)
      .flat()
      .filter((arg) => arg !== undefined) as string[];
    code = await run(output, args, options);
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((c) => c.commands)])
    command.exitOverride();

  try {
    // Help and version are written before commander throws.
    await program.parseAsync(argv, { from: 'user' }).finally(() => output.settle());
  } catch (error) {
    // Whoever stops reading has seen enough; the answer of a gate stands.
    if (!(error instanceof ReaderGone)) code = report(error);
  }
  return code;
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const say = (line: string) => process.stderr.write(`tailfin: ${line}\n`);
  if (error instanceof ConfigError) {
    for (const problem of error.problems) say(plain(problem));
    return EXIT.usage;
  }
  if (error instanceof RuntimeFailure) say(plain(error.message));
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.failure;
}
