/** The rules and the scrape configuration of deploy/examples, with promtool. What the rules say is tested in test/dashboards. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { tempFolder } from '../support/cli.ts';
import { EXAMPLES, readRules, readYaml } from '../support/deploy.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';

promtoolTest('promtool check rules', async () => {
  const { status, text } = promtool(['check', 'rules', join(EXAMPLES, 'rules.yaml')]);
  assert.equal(status, 0, text);
  assert.match(text, new RegExp(`${readRules().length} rules found`));
});

promtoolTest('promtool check config', async (t) => {
  interface Config {
    readonly scrape_configs: Record<string, unknown>[];
    rule_files: string[];
  }
  const config = readYaml<Config>(join(EXAMPLES, 'prometheus.yaml'));
  const whole = promtool(['check', 'config', join(EXAMPLES, 'prometheus.yaml')]);
  if (whole.status === 0) return;
  // Debian builds Prometheus without the discovery of Kubernetes: there it alone may be refused, and all the rest is checked.
  assert.match(whole.text, /field kubernetes_sd_configs not found/);
  assert.equal(whole.text.match(/not found|error/gi)?.length, 2, whole.text);
  for (const job of config.scrape_configs) {
    assert.deepEqual(job.kubernetes_sd_configs, [{ role: 'pod' }]);
    delete job.kubernetes_sd_configs;
  }
  config.rule_files = config.rule_files.map((file) => join(EXAMPLES, file));
  const file = join(tempFolder(t), 'prometheus.yml');
  writeFileSync(file, stringify(config));
  const { status, text } = promtool(['check', 'config', file]);
  assert.equal(status, 0, text);
});
