/**
 * deploy/compose: checked by `docker compose config` where that is (it needs no engine), its files exist, ports are those of this
 * machine only, images are pinned, and Prometheus takes its configuration. Nothing is started.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import picomatch from 'picomatch';
import { HEAP_MIB } from '../../src/k8s/constants.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { type Rule, readRules, readYaml } from '../support/deploy.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';

const FOLDER = join(ROOT, 'deploy/compose');
interface Service {
  readonly image?: string;
  readonly build?: unknown;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}
const { services, volumes } = readYaml<{ services: Record<string, Service>; volumes: object }>(
  join(FOLDER, 'compose.yaml'),
);

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
const config = (file: string) =>
  spawnSync('docker', ['compose', '-f', file, '--project-directory', FOLDER, 'config', '-q'], { encoding: 'utf8' });

/** The keys of the Compose specification that stand here: a typo is none of them. */
const KEYS = new Set([
  ...['image', 'build', 'command', 'environment', 'volumes', 'ports', 'user', 'read_only', 'cap_drop', 'security_opt'],
  ...['restart', 'depends_on'],
]);

describe('compose', () => {
  test('services, pinned images, ports of this machine only, files that are there', () => {
    assert.deepEqual(Object.keys(services), ['demo', 'tailfin', 'prometheus', 'alertmanager', 'grafana']);
    for (const [name, service] of Object.entries(services))
      for (const key of Object.keys(service)) assert.ok(KEYS.has(key), `${name}: ${key}`);
    for (const [name, { image, build, ports = [], volumes: mounts = [] }] of Object.entries(services)) {
      assert.ok(build !== undefined || /:v?\d+\.\d+\.\d+$/.test(image ?? ''), name);
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/);
      for (const mount of mounts) {
        const [source = ''] = mount.split(':');
        assert.ok(source.startsWith('.') ? existsSync(join(FOLDER, source)) : source in volumes, mount);
      }
    }
    assert.equal(services.tailfin?.environment?.NODE_OPTIONS, `--max-old-space-size=${HEAP_MIB}`);
  });

  test('docker compose config', {
    skip: hasCompose ? false : 'needs docker compose (nothing else asks for it)',
  }, (t) => {
    assert.equal(config(join(FOLDER, 'compose.yaml')).status, 0, config(join(FOLDER, 'compose.yaml')).stderr);
    const typo = join(tempFolder(t), 'compose.yaml');
    writeFileSync(typo, 'services:\n  a:\n    imag: x\n');
    assert.notEqual(config(typo).status, 0, 'a typo is seen');
  });

  /** Path within a container to path here, by its mounts. */
  const mounted = (service: string, path: string): string | undefined => {
    const mounts = (services[service]?.volumes ?? []).map((each) => each.split(':') as [string, string]);
    const [source, target] = mounts.find(([, to]) => path === to || path.startsWith(`${to}/`)) ?? [];
    return source?.startsWith('.') ? join(FOLDER, source, path.slice(target?.length)) : undefined;
  };

  test('Prometheus loads every rule that there is, and none twice', () => {
    interface Config {
      readonly rule_files: string[];
      readonly scrape_configs: { readonly static_configs: { readonly targets: string[] }[] }[];
      readonly alerting: { readonly alertmanagers: Config['scrape_configs'][number][] };
    }
    const config = readYaml<Config>(join(FOLDER, 'prometheus.yaml'));
    const files = config.rule_files.flatMap((glob) => {
      const folder = mounted('prometheus', dirname(glob)) as string;
      assert.equal(basename(glob), '*.yaml');
      return readdirSync(folder)
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => join(folder, name));
    });
    const rules = files.flatMap((file) =>
      readYaml<{ groups: { rules: Rule[] }[] }>(file).groups.flatMap(({ rules }) => rules),
    );
    const texts = rules.map((rule) => JSON.stringify(rule));
    assert.deepEqual(
      texts.filter((text, index) => texts.indexOf(text) !== index),
      [],
    );
    assert.equal(rules.length, readRules().length);
    const targets = [...config.scrape_configs, ...config.alerting.alertmanagers].flatMap(({ static_configs: all }) =>
      all.flatMap((each) => each.targets),
    );
    for (const target of targets) assert.ok(target.split(':')[0]! in services, target);
  });

  test('what Grafana is provisioned with: boards that are there, data sources that are services', () => {
    const provisioned = (path: string) => join(FOLDER, 'grafana/provisioning', path);
    assert.equal(mounted('grafana', '/etc/grafana/provisioning'), join(FOLDER, 'grafana/provisioning'));
    const { providers } = readYaml<{ providers: { type: string; options: { path: string } }[] }>(
      provisioned('dashboards/tailfin.yaml'),
    );
    for (const { type, options } of providers) {
      assert.equal(type, 'file');
      const boards = readdirSync(mounted('grafana', options.path) as string).filter((name) => name.endsWith('.json'));
      assert.ok(boards.length > 0);
      for (const name of boards) {
        const board = JSON.parse(readFileSync(join(mounted('grafana', options.path) as string, name), 'utf8'));
        assert.ok(board.title && board.uid, name);
      }
    }
    const { datasources } = readYaml<{
      datasources: { uid: string; type: string; url: string; isDefault?: boolean; jsonData?: object }[];
    }>(provisioned('datasources/prometheus.yaml'));
    for (const { url } of datasources) assert.ok(new URL(url).hostname in services, url);
    const [first, second] = datasources;
    assert.deepEqual([first?.type, first?.isDefault, second?.type], ['prometheus', true, 'alertmanager']);
    assert.deepEqual(first?.jsonData, { manageAlerts: true, alertmanagerUid: second?.uid }, 'alerts show in Grafana');
  });

  test('who configures a service mounts what its command names', () => {
    for (const [name, { command = [] }] of Object.entries(services))
      for (const word of command) {
        const [, path] = /^--config\.file=(.+)$/.exec(word) ?? [];
        if (path !== undefined) assert.ok(existsSync(mounted(name, path) ?? ''), `${name}: ${path}`);
      }
    assert.match(readFileSync(join(ROOT, 'deploy/README.md'), 'utf8'), /needs Docker/);
    assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), /docker compose[^\n]*needs Docker/);
  });

  test('the sidecar follows the folders that the demo makes', () => {
    const events = services.tailfin?.command?.[2] ?? '';
    const [, folder] = /^\/demo\/(.+)$/.exec(events) ?? [];
    assert.ok(picomatch.isMatch('tailfin-demo-aB3xYz/events/0123.ndjson', folder as string));
    assert.equal(services.demo?.environment?.TMPDIR, '/demo');
    assert.match(
      readFileSync(join(ROOT, 'src/demo/demo.ts'), 'utf8'),
      /mkdtempSync\(join\(tmpdir\(\), 'tailfin-demo-'\)\)/,
    );
  });

  promtoolTest('promtool check config', async () => {
    const { status, text } = promtool(['check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yaml')]);
    assert.equal(status, 0, text);
  });
});
