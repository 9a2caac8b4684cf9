/**
 * deploy/Dockerfile. No image can be built here (no registry, no daemon): its instructions are read and held to what they must be,
 * and with TAILFIN_LONG=1 they are carried out in folders, up to a sidecar that runs from the second stage alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import picomatch from 'picomatch';
import { ROOT, start, tempFolder } from '../support/cli.ts';
import { until } from '../support/until.ts';

interface Instruction {
  readonly word: string;
  readonly rest: string;
}
interface Stage {
  readonly base: string;
  readonly name: string;
  readonly instructions: Instruction[];
}

const lines = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').replaceAll(/\\\n/g, ' ').split('\n');
const instructions = lines
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { word, rest };
  });
const variables = Object.fromEntries(
  instructions.filter(({ word }) => word === 'ARG').map(({ rest }) => rest.split('=') as [string, string]),
);
/** Arguments may name others. */
const resolved = (text: string): string =>
  /\$\{/.test(text) ? resolved(text.replace(/\$\{(\w+)\}/g, (_, key) => variables[key] ?? '')) : text;
const stages: Stage[] = [];
for (const each of instructions) {
  const last = stages.at(-1);
  if (each.word === 'FROM') {
    const [base = '', , name = ''] = resolved(each.rest).split(' ');
    stages.push({ base, name, instructions: [] });
  } else if (last !== undefined) last.instructions.push(each);
}
const [build, final] = stages as [Stage, Stage];
/** Of the base of the first stage. */
const NODE = '/usr/local/bin/node';
const only = ({ instructions }: Stage, word: string): string => {
  const found = instructions.filter((each) => each.word === word);
  assert.equal(found.length, 1, word);
  return found[0]?.rest ?? '';
};

/** Paths of the context after the .dockerignore. */
const ignore = readFileSync(join(ROOT, 'deploy/Dockerfile.dockerignore'), 'utf8').trim().split('\n');
const kept = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
const inContext = (path: string): boolean => kept.some((each) => picomatch.isMatch(path, each));

interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly to: string;
}
function copyOf(rest: string): Copy {
  const parts = rest.split(' ');
  const from = /^--from=(\w+)$/.exec(parts[0] ?? '')?.[1];
  const paths = from === undefined ? parts : parts.slice(1);
  return { from, sources: paths.slice(0, -1), to: paths.at(-1) as string };
}

describe('the Dockerfile', () => {
  test('a pinned Node 24 builds, and its program runs on a base without npm and shell', () => {
    assert.equal(stages.length, 2);
    assert.match(build.base, /^node:24\.\d+\.\d+-bookworm-slim$/);
    assert.match(final.base, /^gcr\.io\/distroless\/cc-debian12:nonroot$/);
    const copied = final.instructions.filter(({ word }) => word === 'COPY').map(({ rest }) => copyOf(rest));
    assert.ok(copied.some(({ from, sources: [source] }) => from === 'build' && source === NODE));
    assert.ok(!copied.some(({ sources }) => sources.some((source) => /npm|node_modules/.test(source))));
  });

  test('labels, and the version of the package', () => {
    const labels = only(final, 'LABEL');
    const { version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.ok(labels.includes(`org.opencontainers.image.version="${version}"`));
    assert.ok(labels.includes(`org.opencontainers.image.licenses="${license}"`));
  });

  test('it copies what is there and in its context, and nothing but that is in the context', () => {
    const wanted = stages.flatMap(({ instructions }) =>
      instructions.filter(({ word }) => word === 'COPY').map(({ rest }) => copyOf(rest)),
    );
    const fromContext = wanted.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
    for (const path of fromContext) {
      assert.ok(existsSync(join(ROOT, path)), path);
      assert.ok(inContext(path), `${path} is ignored`);
    }
    assert.deepEqual([...kept].sort(), [...fromContext].sort());
    assert.equal(ignore[0], '*');
    for (const { from } of wanted) assert.ok(from === undefined || from === build.name);
  });

  test('it runs as a number that is not root, without a shell', () => {
    assert.match(only(final, 'USER'), /^[1-9]\d+:[1-9]\d+$/);
    assert.deepEqual(JSON.parse(only(final, 'ENTRYPOINT')), [NODE, '/app/dist/main.js']);
    assert.deepEqual(JSON.parse(only(final, 'CMD')), ['run']);
    assert.ok(!final.instructions.some(({ word }) => word === 'RUN'), 'nothing runs in the last stage');
    assert.equal(only(final, 'EXPOSE'), '19640');
  });

  const skip = process.env.TAILFIN_LONG === '1' ? false : 'takes a minute: TAILFIN_LONG=1';
  test('its steps, carried out in folders: a sidecar runs from the last stage alone', { skip }, async (t) => {
    const folder = tempFolder(t);
    chmodSync(folder, 0o755);
    const roots = new Map<string, string>();
    for (const stage of stages) {
      const root = join(folder, stage.name || 'final');
      roots.set(stage.name, root);
      let workdir = root;
      for (const { word, rest } of stage.instructions) {
        if (word === 'WORKDIR') {
          workdir = join(root, rest);
          mkdirSync(workdir, { recursive: true });
        } else if (word === 'COPY') {
          const { from, sources, to } = copyOf(rest);
          for (const source of sources) {
            // The one file that comes from the base; here it is the Node of the tests.
            if (source === NODE) continue;
            const path = from === undefined ? join(ROOT, source) : join(roots.get(from) as string, source);
            cpSync(path, to.endsWith('/') ? join(workdir, to, basename(source)) : join(workdir, to), {
              recursive: true,
            });
          }
        } else if (word === 'RUN') {
          const ran = spawnSync('sh', ['-c', rest], { cwd: workdir, encoding: 'utf8', timeout: 300_000 });
          assert.equal(ran.status, 0, `${rest}\n${ran.stdout}${ran.stderr}`);
        }
      }
    }
    const root = roots.get('') as string;
    assert.deepEqual(readdirSync(join(root, 'app')).sort(), ['LICENSE', 'dist', 'package.json', 'sbom.cdx.json']);
    const sbom = JSON.parse(readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8')) as {
      components: { name: string }[];
    };
    assert.ok(sbom.components.some(({ name }) => name === 'prom-client'));
    const filesOf = (place: string) => readdirSync(place, { recursive: true, encoding: 'utf8' }).sort();
    const bundle = filesOf(join(root, 'app/dist'));
    assert.deepEqual(bundle, filesOf(join(roots.get('build') as string, 'build/dist')), 'all of the bundle');
    assert.ok(
      bundle.some((name) => name.startsWith('chunks/')),
      'with what is loaded when it is needed',
    );
    // As the file system of the container: nobody may write to it.
    assert.equal(spawnSync('chmod', ['-R', 'a-w', root]).status, 0);
    const [, program = ''] = JSON.parse(only(final, 'ENTRYPOINT')) as string[];
    const uid = process.getuid?.() === 0 ? Number(only(final, 'USER').split(':')[0]) : undefined;
    // A folder of the pod, which any user may write to; the tree of the image is none.
    const volume = join(folder, 'volume');
    mkdirSync(volume);
    chmodSync(volume, 0o777);
    const as = uid === undefined ? {} : { uid };
    const once = (...words: string[]) => start(process.execPath, words, { cwd: volume, ...as }).ended;
    const write = `require('node:fs').writeFileSync(${JSON.stringify(join(root, 'app/dist/x'))}, '')`;
    assert.match((await once('-e', write)).stderr, /EACCES/, 'the tree is read-only');
    const installed = await once(
      join(root, program),
      'install-tap',
      join(volume, 'tap'),
      '--events',
      join(volume, 'events'),
    );
    assert.deepEqual([installed.code, installed.stderr], [0, '']);
    assert.ok(existsSync(join(volume, 'tap/tailfin-tap.cjs')), 'the install step needs nothing else');
    const args = [
      'run',
      '--metrics-listen',
      '127.0.0.1:0',
      '--local-listen',
      '127.0.0.1:0',
      '--events',
      join(folder, '*.ndjson'),
    ];
    const running = start(process.execPath, [join(root, program), ...args], {
      cwd: join(root, 'app'),
      ...as,
    });
    t.after(() => {
      running.child.kill('SIGKILL');
      return running.ended;
    });
    const url = () => /metrics on (http:[^"]+)\/metrics/.exec(running.stderr())?.[1];
    await until(() => url() !== undefined || running.child.exitCode !== null, {
      timeoutMs: 60_000,
      what: running.stderr,
    });
    const health = await fetch(`${url()}/healthz`);
    assert.equal(health.status, 200);
    assert.match(await (await fetch(`${url()}/metrics`)).text(), /^tailfin_build_info\{/m);
    running.child.kill('SIGTERM');
    assert.equal((await running.ended).code, 0, 'SIGTERM reaches it');
  });
});
