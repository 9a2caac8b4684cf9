/**
 * `tailfin inject` and `uninject`, case by case: exact output in test/inject/cases (UPDATE_GOLDENS=1 writes it; read the diff), and
 * what must hold whatever the golden says. A random pod stands for those that nobody thought of.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { injectStream, uninjectStream } from '../../src/app/command-inject.ts';
import { ConfigError } from '../../src/app/config-merge.ts';
import { injectOptions } from '../../src/app/inject-options.ts';
import { TAP_OPTION } from '../../src/k8s/constants.ts';
import { inject } from '../../src/k8s/inject.ts';
import { InjectRefusal } from '../../src/k8s/options.ts';
import type { Container, PodSpec } from '../../src/k8s/types.ts';
import { uninject } from '../../src/k8s/uninject.ts';
import { workloadsOf } from '../../src/k8s/workload.ts';
import { ROOT, tailfin } from '../support/cli.ts';
import { anyPod, meaningOf } from '../support/pods.ts';

const CASES = join(ROOT, 'test/inject/cases');
const IMAGE = 'registry.example/tailfin:0.1.0';

/** As the command line would read them. */
function run(text: string, args: readonly string[]): string {
  const given: Record<string, string | boolean | string[]> = {};
  const only: string[] = [];
  for (const [index, arg] of args.entries()) {
    const name = arg.slice(2);
    const value = args[index + 1] ?? '';
    if (!arg.startsWith('--')) continue;
    if (name === 'only') only.push(value);
    else if (name === 'container') given[name] = [...((given[name] as string[] | undefined) ?? []), value];
    else given[name] = name === 'scrape-annotations' ? true : value;
  }
  const image = args.includes('KRM') ? {} : { image: IMAGE };
  return injectStream('in.yaml', text, (krm) => injectOptions({ ...image, ...krm, ...given }), {
    only,
    labelled: false,
  }).text;
}

/** As kubectl reads it, by YAML 1.1: there `yes` is a boolean and 0644 is octal, so quotes and spelling count. */
const objects = (text: string): unknown[] =>
  parseAllDocuments(text, { version: '1.1', merge: true }).map((document) => document.toJS());
const templates = (text: string) => objects(text).flatMap((object) => workloadsOf(object));

const names = readdirSync(CASES).sort();
test('the table is long enough', () => assert.ok(names.length >= 30, String(names.length)));

describe('cases', () => {
  for (const name of names) {
    const file = (each: string) => join(CASES, name, each);
    const text = readFileSync(file('in.yaml'), 'utf8');
    const args = existsSync(file('args.txt')) ? readFileSync(file('args.txt'), 'utf8').trim().split('\n') : [];
    test(name, () => {
      let out: string;
      let golden = 'out.yaml';
      try {
        out = run(text, args);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        out = `${error.problems.join('\n')}\n`;
        golden = 'refused.txt';
      }
      if (process.env.UPDATE_GOLDENS === '1') writeFileSync(file(golden), out);
      assert.equal(out, readFileSync(file(golden), 'utf8'));
      assert.equal(golden === 'refused.txt', name.endsWith('-refused'));
      if (golden === 'refused.txt') {
        assert.match(out, /^in\.yaml:\d+: /);
        return;
      }
      assert.equal(run(out, args), out, 'twice is once');
      const older = out.replaceAll(IMAGE, 'registry.example/tailfin:0.0.9');
      assert.equal(run(older, args), out, 'what an older Tailfin injected is replaced');
      const other = args.includes('--quota') ? args : [...args, '--quota', '16'];
      assert.deepEqual(meaningOf(objects(run(run(text, other), args))), meaningOf(objects(out)), 'other options too');
      const back = uninjectStream('in.yaml', out).text;
      assert.deepEqual(meaningOf(objects(back)), meaningOf(objects(text)), 'uninject gives the original back');
      assert.equal(uninjectStream('in.yaml', text).text, text, 'what was not injected stays, byte by byte');
      untouched(text, out);
      for (const [index, { template }] of templates(out).entries())
        isSound(template.spec, templates(text)[index]?.template.spec as PodSpec);
    });
  }
});

/** Documents without a workload are the same bytes. */
function untouched(text: string, out: string): void {
  const parts = (all: string) => all.split(/^(?=---(?:\s|$))/m);
  for (const [index, part] of parts(text).entries())
    if (templates(part).length === 0) assert.equal(parts(out)[index], part);
}

/** Rules that a golden could get wrong with everybody nodding. */
function isSound(spec: PodSpec, before: PodSpec): void {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const own = all.find(({ name, args }) => name === 'tailfin' && args?.[0] === 'run');
  if (own === undefined) {
    assert.deepEqual(spec, before);
    return;
  }
  assert.deepEqual([own.startupProbe, own.readinessProbe], [undefined, undefined]);
  assert.deepEqual(own.securityContext?.capabilities, { drop: ['ALL'] });
  assert.deepEqual(spec.securityContext, before.securityContext, 'no fsGroup: it would re-own the volumes of the host');
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  const ports = all.flatMap((each) => (each.ports ?? []).map(({ containerPort }) => containerPort));
  assert.equal(new Set(ports).size, ports.length);
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  for (const { volumeMounts } of all) for (const { name } of volumeMounts ?? []) assert.ok(volumes.has(name), name);
  const tapped = all.filter((each) => optionsOf(each)?.endsWith(TAP_OPTION));
  assert.ok(tapped.length > 0);
  for (const each of tapped) {
    const old = [...(before.initContainers ?? []), ...before.containers].find(({ name }) => name === each.name);
    assert.ok(optionsOf(each)?.startsWith(optionsOf(old) ?? ''), 'appended, never replaced');
    assert.deepEqual({ ...each, env: 0, volumeMounts: 0 }, { ...old, env: 0, volumeMounts: 0 });
  }
  assert.ok(all.indexOf(all.find(({ name }) => name === 'tailfin-tap')!) < all.indexOf(tapped[0]!));
}

const optionsOf = (container: Container | undefined): string | undefined =>
  container?.env?.findLast(({ name }) => name === 'NODE_OPTIONS')?.value ?? undefined;

test('blanks in flow collections stay as they are, for maps and lists apart', () => {
  const head = "kind: Pod\napiVersion: v1\nmetadata:\n  name: '{{a}} [b]'\nspec:\n  hostname: a\n  containers:\n";
  for (const [ports, command] of [
    ['{ containerPort: 1 }', '[node, a]'],
    ['{containerPort: 1}', '[ node, a ]'],
    ['{ containerPort: 1 }', '[ node, a ]'],
    ['{containerPort: 1}', '[node, a]'],
  ]) {
    const text = `${head}    - name: app\n      image: a:1\n      command: ${command}\n      ports:\n        - ${ports}\n`;
    const injected = run(text, []);
    assert.ok(injected.includes(`command: ${command}\n      ports:\n        - ${ports}\n`), injected);
    assert.equal(uninjectStream('in.yaml', injected).text, text, 'byte by byte');
  }
});

describe('random pods', () => {
  test('twice is once, back is the original, and nothing of the host changes but what is said', () => {
    let injected = 0;
    fc.assert(
      fc.property(anyPod, fc.boolean(), fc.constantFrom(16, 64), (spec, native, quotaMiB) => {
        const options = { image: IMAGE, native, quotaMiB };
        const before = structuredClone(spec);
        let once: PodSpec;
        try {
          once = inject(spec, options);
        } catch (error) {
          assert.ok(error instanceof InjectRefusal, String(error));
          return;
        }
        injected += 1;
        assert.deepEqual(spec, before, 'pure');
        assert.deepEqual(inject(once, options), once);
        assert.deepEqual(meaningOf(uninject(once)), meaningOf(spec));
        isSound(once, spec);
        assert.deepEqual(inject(once, { ...options, image: 'other' }), inject(spec, { ...options, image: 'other' }));
      }),
      { numRuns: 500 },
    );
    assert.ok(injected > 200, `${injected} of 500 were injected`);
  });
});

test('what an older Tailfin added to the grace period is taken back, not what this one adds', () => {
  const given = { containers: [{ name: 'app' }], terminationGracePeriodSeconds: 60 };
  const older = JSON.parse(JSON.stringify(inject(given, { image: IMAGE })).replace('"+25"', '"+5"')) as PodSpec;
  const spec = { ...older, terminationGracePeriodSeconds: 65 };
  assert.deepEqual(meaningOf(uninject(spec)), meaningOf(given));
  assert.equal(inject(spec, { image: IMAGE }).terminationGracePeriodSeconds, 85);
});

describe('the command', () => {
  const text = readFileSync(join(CASES, 'plain-deployment/in.yaml'), 'utf8');
  test('stdin to stdout; the image from the environment', async () => {
    const { code, stdout, stderr } = await tailfin(['inject', '-'], { stdin: text, env: { TAILFIN_IMAGE: IMAGE } });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.equal(stdout, readFileSync(join(CASES, 'plain-deployment/out.yaml'), 'utf8'));
    const back = await tailfin(['uninject'], { stdin: stdout });
    assert.deepEqual(meaningOf(objects(back.stdout)), meaningOf(objects(text)));
  });
  test('a refusal: file, line and field, exit 2, and nothing on stdout', async () => {
    const file = join(CASES, 'node-options-value-from-refused/in.yaml');
    const { code, stdout, stderr } = await tailfin(['inject', '-f', file, '--image', IMAGE]);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /in\.yaml:16: Deployment\/web: spec\.template\.spec\.containers\[0\]\.env\[1\]\.valueFrom: /);
  });
  test('a NODE_OPTIONS that may have come by envFrom is said', async () => {
    const from = text.replace(
      '        - name: app\n',
      '        - name: app\n          envFrom: [{configMapRef: {name: c}}]\n',
    );
    const { code, stderr } = await tailfin(['inject', '--image', IMAGE], { stdin: from });
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^tailfin: warning: stdin:\d+: Deployment\/web: container app: a NODE_OPTIONS that came by envFrom /,
    );
    const kept = from.replace(
      '          envFrom',
      '          env: [{name: NODE_OPTIONS, value: $(NODE_OPTIONS)}]\n          envFrom',
    );
    const again = await tailfin(['inject', '--image', IMAGE], { stdin: kept });
    assert.deepEqual([again.code, again.stderr], [0, ''], 'the advice works');
    assert.match(again.stdout, /value: \$\(NODE_OPTIONS\) --require /);
  });
  test('the network of the node is said', async () => {
    const onNode = text.replace('      containers:\n', '      hostNetwork: true\n      containers:\n');
    const { code, stdout, stderr } = await tailfin(['inject', '--image', IMAGE], { stdin: onNode });
    assert.equal(code, 0);
    assert.match(stderr, /^tailfin: warning: stdin:\d+: Deployment\/web: on the network of the node ports 19640 /);
    assert.equal((await tailfin(['uninject'], { stdin: stdout })).stderr, '');
  });
  test('without an image, with nothing to do, and a file that is not there', async () => {
    const none = await tailfin(['inject', '-'], { stdin: text });
    assert.equal(none.code, 2);
    assert.match(none.stderr, /TAILFIN_IMAGE/);
    const map = 'kind: ConfigMap\napiVersion: v1\n';
    const nothing = await tailfin(['inject', '--image', IMAGE], { stdin: map });
    assert.deepEqual([nothing.code, nothing.stdout], [0, map]);
    assert.match(nothing.stderr, /nothing to inject/);
    assert.equal((await tailfin(['inject', '/nowhere.yaml', '--image', IMAGE])).code, 3);
  });
});
