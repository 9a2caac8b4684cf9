/**
 * deploy/compose: checked by `docker compose config` where that is (it needs no engine), its files exist, ports are those of this
 * machine only, images are pinned, and Prometheus takes its configuration. Nothing is started.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HEAP_MIB } from '../../src/k8s/constants.ts';
import { ROOT, tempFolder } from '../support/cli.ts';
import { readYaml } from '../support/deploy.ts';
import { promtool, promtoolTest } from '../support/promtool.ts';

const FOLDER = join(ROOT, 'deploy/compose');
interface Service {
  readonly image?: string;
  readonly build?: unknown;
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

  test('every rule is loaded once: two files with the same groups would evaluate and page twice', () => {
    const mounts = (services.prometheus?.volumes ?? [])
      .map((mount) => mount.split(':') as [string, string])
      .filter(([, target]) => target.startsWith('/etc/prometheus/rules'));
    const files = mounts.flatMap(([source]) => {
      const path = join(FOLDER, source);
      return path.endsWith('.yaml') ? [path] : readdirSync(path).map((name) => join(path, name));
    });
    const groups = files.flatMap((file) => readYaml<{ groups: { name: string }[] }>(file).groups);
    const names = groups.map(({ name }) => name);
    assert.ok(names.includes('tailfin.traffic') && names.includes('tailfin.recording'));
    assert.deepEqual(names, [...new Set(names)]);
  });

  test('docker compose config', {
    skip: hasCompose ? false : 'needs docker compose (nothing else asks for it)',
  }, (t) => {
    assert.equal(config(join(FOLDER, 'compose.yaml')).status, 0, config(join(FOLDER, 'compose.yaml')).stderr);
    const typo = join(tempFolder(t), 'compose.yaml');
    writeFileSync(typo, 'services:\n  a:\n    imag: x\n');
    assert.notEqual(config(typo).status, 0, 'a typo is seen');
  });

  promtoolTest('promtool check config', async () => {
    const { status, text } = promtool(['check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yaml')]);
    assert.equal(status, 0, text);
  });
});
