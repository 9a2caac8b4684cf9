/** `tailfin check`: findings as a gate. Exit 0 no hit, 1 a hit; input of which nothing was accepted is a failure, never a pass. */
import { DETECTORS } from '../core/detectors/index.ts';
import { renderCheckText } from '../exporters/check-text.ts';
import { type CheckResult, createFindingList, hitsOf } from '../exporters/finding-list.ts';
import { renderJunit } from '../exporters/junit.ts';
import { plain } from '../exporters/plain.ts';
import { renderSarif } from '../exporters/sarif.ts';
import type { CheckFormat } from './check-formats.ts';
import type { Config } from './config-keys.ts';
import { toPolicy } from './config-policy.ts';
import { EXIT, RuntimeFailure } from './exit.ts';
import { rulesOf } from './fail-on.ts';
import type { Output } from './output.ts';
import { createProgress } from './progress.ts';
import { totalOf, warningsOf } from './read-report.ts';
import { type FileTally, replay } from './replay.ts';
import { refuseSameInput } from './same-input.ts';
import { VERSION } from './version.ts';

const RENDERERS = {
  text: renderCheckText,
  junit: renderJunit,
  sarif: (result: CheckResult) => renderSarif(result, { version: VERSION, folder: process.cwd() }),
} satisfies Record<CheckFormat, (result: CheckResult) => string>;

export interface CheckOptions {
  readonly files: readonly string[];
  readonly failOn: readonly string[];
  readonly format: CheckFormat;
  readonly config: Config;
  readonly warn: (warning: string) => void;
}

export async function checkCommand(options: CheckOptions, output: Output): Promise<number> {
  const { files, failOn, format, config, warn } = options;
  const list = createFindingList(rulesOf(failOn, DETECTORS));
  refuseSameInput(files);
  const tallies: FileTally[] = [];
  const pipeline = await replay({
    files,
    host: config.host || 'files',
    policy: toPolicy(config),
    onFact(fact) {
      if (fact.is === 'finding') list.add(fact);
    },
    tallies,
    progress: createProgress(process.stderr),
  });
  pipeline.refresh();
  const warnings = warningsOf(pipeline.cells, tallies);
  for (const warning of warnings) warn(warning);
  const events = totalOf(pipeline.cells, 'events');
  if (events === 0) throw new RuntimeFailure(`nothing was checked: no event in ${plain(files.join(', '))}`);
  const result: CheckResult = { rules: list.rules, others: list.others, events, warnings };
  output.write(RENDERERS[format](result));
  return hitsOf(result) > 0 ? EXIT.findings : EXIT.ok;
}
