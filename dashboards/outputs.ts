/** Everything that is generated, as texts by path below generated/ (the example beside the scrape configuration has its own place). Pure: the same settings give the same bytes. */
import { boardScope, renderBoard } from './board.ts';
import { boards } from './boards/index.ts';
import { BOARDS } from './names.ts';
import { queries } from './queries.ts';
import { exampleRules, ruleFiles } from './rules/render.ts';
import type { Settings } from './settings.ts';

export function boardFiles(settings: Settings): Readonly<Record<string, string>> {
  const q = queries(boardScope(settings));
  return Object.fromEntries(
    boards(q, settings).map((board) => [
      `${BOARDS[board.key].uid}.json`,
      `${JSON.stringify(renderBoard(board, settings, q), null, 2)}\n`,
    ]),
  );
}

export const outputs = (settings: Settings): Readonly<Record<string, string>> => ({
  ...boardFiles(settings),
  ...ruleFiles(settings),
});

/** Where deploy/examples/prometheus.yaml looks for it. */
export const EXAMPLE_RULES = '../../deploy/examples/rules.yaml';
export const ownOutputs = (settings: Settings): Readonly<Record<string, string>> => ({
  ...outputs(settings),
  [EXAMPLE_RULES]: exampleRules(settings),
});
