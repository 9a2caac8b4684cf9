/** promtool, the linter of Prometheus itself, has nothing to say about any exposition of ours. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, toPolicy } from '../src/app/config.ts';
import { replay } from '../src/app/replay.ts';
import { createPipeline } from '../src/core/pipeline.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { SCENARIOS, startSidecar, stdoutOf } from './support/cli.ts';
import { promtool, promtoolTest } from './support/promtool.ts';
import { until } from './support/until.ts';

/** Complaints about style end with exit code 3, broken text with 1; both are on stderr. */
function complaints(exposition: string): string {
  const { status, text } = promtool(['check', 'metrics'], exposition);
  return status === 0 ? text : `exit ${status}\n${text}`;
}

promtoolTest('it does complain, about what it should', async () => {
  assert.match(complaints('# HELP x_total X.\n# TYPE x_total gauge\nx_total 1\n'), /x_total/);
  assert.match(complaints('x{a="1} 1\n'), /exit 1/);
});

promtoolTest('a running sidecar, with the metrics of its process', async (t) => {
  const sidecar = await startSidecar(t, join(SCENARIOS, '*/events.ndjson'));
  const isRead = async () => (await sidecar.ready()).status === 200;
  await until(isRead, { timeoutMs: 60_000, what: 'the scenarios are read' });
  const { body } = await sidecar.get('/metrics');
  assert.match(body, /^process_cpu_seconds_total /m);
  assert.match(body, /^tailfin_findings_total\{/m);
  assert.equal(complaints(body), '');
});

promtoolTest('a sidecar that has seen nothing', async () => {
  for (const process of [false, true]) {
    const exporter = createPrometheusExporter(createPipeline().cells, { process });
    assert.equal(complaints(await exporter.render()), '');
  }
});

promtoolTest('a replay as the command line prints it', async () => {
  const file = join(SCENARIOS, 'masked-by-rotation', 'events.ndjson');
  assert.equal(complaints(await stdoutOf(['replay', '--format', 'prom', file])), '');
});

for (const name of readdirSync(SCENARIOS)) {
  promtoolTest(`scenario ${name}`, async () => {
    const config = join(SCENARIOS, name, 'tailfin.yaml');
    const { cells, refresh } = await replay({
      files: [join(SCENARIOS, name, 'events.ndjson')],
      host: 'files',
      policy: toPolicy(loadConfig(existsSync(config) ? { file: config } : {})),
    });
    refresh();
    assert.equal(complaints(await createPrometheusExporter(cells, { process: false }).render()), '');
  });
}

promtoolTest('names that need every escape', async () => {
  const pipeline = createPipeline();
  const origin = { source: 'files', writer: 'files', host: 'h' };
  const template = readFileSync(join(SCENARIOS, 'cut-json', 'events.ndjson'), 'utf8').split('\n');
  for (const [i, server] of [
    '"quoted"',
    'back\\slash',
    'line\nend',
    '\\n',
    'käse 寿司 🐟',
    '{a="b"} 1',
    '# TYPE',
  ].entries()) {
    for (const text of template) {
      if (text === '') continue;
      const event = JSON.parse(text) as Record<string, unknown>;
      const line = JSON.stringify({
        ...event,
        server,
        ...(event.exchange ? { exchange: `${event.exchange}${i}` } : {}),
      });
      pipeline.line(line, origin, 1, 0);
    }
  }
  pipeline.finish();
  pipeline.refresh();
  const text = await createPrometheusExporter(pipeline.cells, { process: false }).render();
  assert.match(text, /server="line\\nend"/);
  assert.equal(complaints(text), '');
});
