/** `tailfin replay`: what is printed in each format. */
import type { Fact } from '../core/model/facts.ts';
import { createPrometheusExporter } from '../exporters/prometheus.ts';
import { recordOf } from '../exporters/records.ts';
import { createReport } from '../exporters/report.ts';
import type { Config } from './config-keys.ts';
import { toPolicy } from './config-policy.ts';
import { EXIT } from './exit.ts';
import type { Output } from './output.ts';
import { createProgress } from './progress.ts';
import { replay } from './replay.ts';
import { refuseSameInput } from './same-input.ts';

export const FORMATS = ['text', 'json', 'prom'] as const;
export type ReplayFormat = (typeof FORMATS)[number];

export async function replayCommand(
  files: readonly string[],
  format: ReplayFormat,
  config: Config,
  output: Output,
): Promise<number> {
  refuseSameInput(files);
  const report = format === 'text' ? createReport() : undefined;
  const onFact = (fact: Fact): void => {
    report?.add(fact);
    if (format !== 'json') return;
    const record = recordOf(fact);
    if (record !== null) output.write(`${JSON.stringify(record)}\n`);
  };
  const progress = createProgress(process.stderr);
  const pipeline = await replay({
    files,
    host: config.host || 'files',
    policy: toPolicy(config),
    // The exposition is made of the counters alone.
    onFact: format === 'prom' ? undefined : onFact,
    onChunk: () => (format === 'json' ? output.settle() : undefined),
    progress,
  });
  if (format === 'prom') {
    pipeline.refresh();
    output.write(await createPrometheusExporter(pipeline.cells, { process: false }).render());
  }
  if (report !== undefined) output.write(report.render(pipeline.cells));
  await output.settle();
  return EXIT.ok;
}
