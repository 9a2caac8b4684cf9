/** `tailfin explain`: finds what is meant in a first reading, gathers it in a second one, and prints its story. */

import type { WireEvent } from '../core/model/event.ts';
import type { Fact } from '../core/model/facts.ts';
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
import { type FileTally, replay } from './replay.ts';
import { spool } from './spool.ts';

export interface ExplainOptions extends Selector {
  readonly files: readonly string[];
  readonly config: Config;
}

export async function explainCommand(options: ExplainOptions, output: Output): Promise<number> {
  const { files, exchange, operation, config } = options;
  if (exchange !== undefined && operation !== undefined)
    throw new ConfigError(['--exchange and --operation: give one of them']);
  const input = await spool(files);
  const policy = toPolicy(config);
  const host = config.host || 'files';
  const read = (onFact: (fact: Fact) => void, onEvent?: (event: WireEvent) => void, tallies?: FileTally[]) =>
    replay({
      files,
      copies: input.copies,
      host,
      policy,
      onFact,
      onEvent,
      tallies,
      progress: createProgress(process.stderr),
    });
  try {
    const finder = createFinder(options);
    const tallies: FileTally[] = [];
    const { cells, refresh } = await read(finder.add, undefined, tallies);
    refresh();
    for (const warning of warningsOf(cells, tallies)) process.stderr.write(`tailfin: warning: ${plain(warning)}\n`);
    if (totalOf(cells, 'events') === 0)
      throw new RuntimeFailure(`nothing to explain: no event in ${plain(files.join(', '))}`);
    const found = finder.found();
    if (found.targets.length === 0) {
      if (exchange === undefined && operation === undefined) {
        output.write(nothingBad(found) + renderCandidates(titleOf(options), found.others, found.moreOthers));
        return EXIT.ok;
      }
      const sort = exchange === undefined ? 'operation' : 'exchange';
      const near = createSuggestions(exchange ?? (operation as string), sort);
      await read(near.add);
      throw new ConfigError([notFound(sort, exchange ?? (operation as string), found.otherSort, near.list())]);
    }
    const collectors = found.targets.map((target) => createCollector(target, policy));
    await read(
      (fact) => {
        for (const { onFact } of collectors) onFact(fact);
      },
      (event) => {
        for (const { onEvent } of collectors) onEvent(event);
      },
    );
    output.write(introduction(found, options));
    output.write(
      collectors.map((collector) => renderExplanation(collector.explanation())).join(`\n${'-'.repeat(80)}\n\n`),
    );
    output.write(renderCandidates(titleOf(options), found.others, found.moreOthers));
    return EXIT.ok;
  } finally {
    input.remove();
  }
}

function nothingBad({ operations }: Found): string {
  const what =
    operations === 0
      ? 'no operation in this input'
      : `${plural(operations, 'operation')}, and none failed or was retried`;
  return `Nothing to explain: ${what}.\nName an exchange to see its story: --exchange ID (ids: tailfin replay --format json FILE).\n`;
}

function notFound(sort: 'exchange' | 'operation', word: string, otherSort: boolean, near: readonly string[]): string {
  const option = sort === 'exchange' ? '--operation' : '--exchange';
  const hint = otherSort
    ? `; it is ${sort === 'exchange' ? 'the key of an operation' : 'an exchange'}: use ${option}`
    : near.length > 0
      ? `; did you mean ${near.join(', ')}?`
      : '';
  return plain(`--${sort}: no ${sort} ${JSON.stringify(word)} in this input${hint}`);
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

const titleOf = ({ operation }: Selector): string =>
  operation === undefined ? 'Others that failed or were retried' : 'Others with this key';
