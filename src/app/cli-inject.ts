/** The commands `inject` and `uninject`: flags, input and output. What they do to a stream is in command-inject.ts. */
import type { Command } from 'commander';
import { type Action, collect, examples } from './cli-parts.ts';
import { EXIT } from './exit.ts';
import { INJECT_FLAGS } from './inject-options.ts';
import type { Output } from './output.ts';

const IN_AND_OUT = examples(
  'export TAILFIN_IMAGE=registry.example/tailfin:0.1.0',
  'kubectl get deploy web -o yaml | tailfin inject - | kubectl apply -f -',
  'tailfin inject -f deploy.yaml --container app --container worker > injected.yaml',
  'helm install web ./chart --post-renderer tailfin-post-renderer    # deploy/helm-post-renderer',
);

type Wrap = (run: Action) => (...args: unknown[]) => Promise<void>;
type Given = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Commander names an option in camel case. */
const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** From the command line: only what was given, under the names of the table. */
function flagsOf(options: Readonly<Record<string, unknown>>): Given {
  const given = Object.keys(INJECT_FLAGS).map((name) => [name, options[camel(name)]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Given;
}

export function addInjectCommands(program: Command, action: Wrap, warn: (text: string) => void): void {
  const command = program
    .command('inject')
    .description('put Tailfin beside the pods of Kubernetes manifests: kubectl output, Helm output, KRM ResourceLists')
    .argument('[file...]', 'YAML streams; - is stdin')
    .option('-f, --filename <file>', 'the same; may be repeated', collect);
  for (const { flag, doc, many } of Object.values(INJECT_FLAGS))
    if (many) command.option(flag, doc, collect);
    else command.option(flag, doc);
  command
    .option('--only <kind/name>', 'only this workload; may be repeated', collect)
    .option('--labelled', 'only pods that ask for it with the label tailfin.dev/inject: "true"')
    .addHelpText('after', IN_AND_OUT)
    .action(
      action(async (output, files, options) => {
        const { injectStream } = await import('./command-inject.ts');
        const { injectOptions } = await import('./inject-options.ts');
        const image = process.env.TAILFIN_IMAGE;
        const flags = flagsOf(options);
        const merged = (krm: Given = {}): Given => ({ ...(image && { image }), ...krm, ...flags });
        const choice = { only: (options.only ?? []) as readonly string[], labelled: options.labelled === true };
        return overStreams(output, files, options.filename, (file, text) => {
          const result = injectStream(file, text, (krm) => injectOptions(merged(krm)), choice);
          if (result.changed.length === 0) warn(`${file}: nothing to inject`);
          for (const note of result.notes) warn(note);
          return result.text;
        });
      }),
    );

  program
    .command('uninject')
    .description('take Tailfin out of manifests again; what inject did not put there stays')
    .argument('[file...]', 'YAML streams; - is stdin')
    .option('-f, --filename <file>', 'the same; may be repeated', collect)
    .addHelpText('after', examples('kubectl get deploy web -o yaml | tailfin uninject - | kubectl apply -f -'))
    .action(
      action(async (output, files, options) => {
        const { uninjectStream } = await import('./command-inject.ts');
        return overStreams(output, files, options.filename, (file, text) => {
          const result = uninjectStream(file, text);
          for (const note of result.notes) warn(note);
          return result.text;
        });
      }),
    );
}

async function overStreams(
  output: Output,
  files: readonly string[],
  more: unknown,
  change: (file: string, text: string) => string,
): Promise<number> {
  const { readInput } = await import('./command-inject.ts');
  const all = [...files, ...((more as readonly string[] | undefined) ?? [])];
  const texts: string[] = [];
  // Standard input is the default: a post-renderer and a KRM function are called without arguments.
  for (const file of all.length > 0 ? all : ['-']) texts.push(change(file, await readInput(file)));
  const separated = texts.map((text, index) => (index > 0 && !text.startsWith('---') ? `---\n${text}` : text));
  output.write(separated.join(''));
  return EXIT.ok;
}
