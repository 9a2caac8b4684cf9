/** `tailfin explain`: finds what is meant in a first reading, gathers it in a second one, and prints its story. */

import type { Fact } from '../core/model/facts.ts';
import type { Policy } from '../core/model/policy.ts';
import type { Pipeline } from '../core/pipeline.ts';
import { renderCandidates, renderExplanation } from '../exporters/explain.ts';
import { plain, plural } from '../exporters/plain.ts';
import type { Config } from './config-keys.ts';
import { ConfigError } from './config-merge.ts';
import { toPolicy } from './config-policy.ts';
import { EXIT, RuntimeFailure } from './exit.ts';
import { createCollector } from './explain-collect.ts';
import { createFinder, type Found, type Selector } from './explain-find.ts';
import { createSuggestions } from './explain-suggest.ts';
import type { Output } from './output.ts';
import { createProgress } from './progress.ts';
import { totalOf, warningsOf } from './read-report.ts';
import { type FileTally, type ReplayOptions, replay } from './replay.ts';
import { refuseSameInput } from './same-input.ts';
import { spool } from './spool.ts';

const RULER = '-'.repeat(80);

export interface ExplainOptions extends Selector {
  readonly files: readonly string[];
  readonly config: Config;
  readonly warn: (warning: string) => void;
}

/** One reading of all files. */
type Read = (onFact: (fact: Fact) => void, more?: Pick<ReplayOptions, 'onEvent' | 'tallies'>) => Promise<Pipeline>;

export async function explainCommand(options: ExplainOptions, output: Output): Promise<number> {
  const { files, exchange, operation, config } = options;
  if (exchange !== undefined && operation !== undefined)
    throw new ConfigError(['--exchange and --operation: give one of them']);
  refuseSameInput(files);
  const input = await spool(files);
  const policy = toPolicy(config);
  const read: Read = (onFact, more) =>
    replay({
      ...{ files, copies: input.copies, host: config.host || 'files', policy },
      ...{ onFact, ...more, progress: createProgress(process.stderr) },
    });
  try {
    const found = await find(options, read);
    if (found.targets.length === 0) {
      if (exchange !== undefined) throw await unknown('exchange', exchange, found, read);
      if (operation !== undefined) throw await unknown('operation', operation, found, read);
      output.write(nothingBad(found));
    } else output.write(await tell(found, options, policy, read));
    return EXIT.ok;
  } finally {
    input.remove();
  }
}

async function find(options: ExplainOptions, read: Read): Promise<Found> {
  const finder = createFinder(options);
  const tallies: FileTally[] = [];
  const { cells, refresh } = await read(finder.add, { tallies });
  refresh();
  for (const warning of warningsOf(cells, tallies)) options.warn(warning);
  if (totalOf(cells, 'events') === 0)
    throw new RuntimeFailure(`nothing to explain: no event in ${plain(options.files.join(', '))}`);
  return finder.found();
}

async function tell(found: Found, selector: Selector, policy: Policy, read: Read): Promise<string> {
  const collectors = found.targets.map((target) => createCollector(target, policy));
  await read(
    (fact) => {
      for (const { onFact } of collectors) onFact(fact);
    },
    {
      onEvent(event) {
        for (const { onEvent } of collectors) onEvent(event);
      },
    },
  );
  const stories = collectors.map((collector) => renderExplanation(collector.explanation()));
  const title = selector.operation === undefined ? 'Others that failed or were retried' : 'Others with this key';
  return `${introduction(found, selector)}${stories.join(`\n${RULER}\n\n`)}${renderCandidates(title, found.others, found.moreOthers)}`;
}

/** A selector that selects nothing is a mistake of the command line, like a misspelt rule. */
async function unknown(sort: 'exchange' | 'operation', word: string, { otherSort }: Found, read: Read): Promise<Error> {
  const near = createSuggestions(word, sort);
  await read(near.add);
  const [is, use] = sort === 'exchange' ? ['the key of an operation', '--operation'] : ['an exchange', '--exchange'];
  const names = near.list();
  const hint = otherSort ? `; it is ${is}: use ${use}` : names.length > 0 ? `; did you mean ${names.join(', ')}?` : '';
  return new ConfigError([plain(`--${sort}: no ${sort} ${JSON.stringify(word)} in this input${hint}`)]);
}

function nothingBad({ operations, others, moreOthers }: Found): string {
  const what =
    operations === 0
      ? 'no operation in this input'
      : `${plural(operations, 'operation')}, and none failed or was retried`;
  return `Nothing to explain: ${what}.
Name an exchange to see its story: --exchange ID (ids: tailfin replay --format json FILE).
${renderCandidates('Streams that failed', others, moreOthers)}`;
}

/** Says what was chosen where that was not the operator's own word. */
function introduction(
  { targets, hosts, operations, others, moreOthers }: Found,
  { exchange, operation }: Selector,
): string {
  if (exchange !== undefined)
    return hosts < 2 ? '' : `${plain(exchange)} is an exchange of ${hosts} hosts, ${targets.length} are told.\n\n`;
  const more = others.length + moreOthers;
  if (operation !== undefined)
    return more === 0 ? '' : `${plural(more + 1, 'operation')} with this key: the worst one is told.\n\n`;
  return `The worst of ${plural(operations, 'operation')}.\n\n`;
}
