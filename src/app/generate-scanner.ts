/** The scanner's program as a module of the core: assembly/ compiled, with the numbers that both sides speak in. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whoever makes the memory chooses its size; the compiler looks whether the tables fit. */
const PAGES = 8;
/** `abort=`: an assertion that fails stops the program; it imports nothing to say why. */
const OPTIONS = [
  ...['--runtime', 'stub', '-O3', '--use', 'abort='],
  ...['--enable', 'simd', '--importMemory', '--zeroFilledMemory'],
];

/** As far as it is used: Node's own types do not have it. */
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => object;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, object>> };
  Global: abstract new () => { readonly value: number };
};

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @throws Error after the compiler has said on stderr what is wrong. */
function compile(): Buffer<ArrayBuffer> {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-scanner-'));
  try {
    const out = join(folder, 'program.wasm');
    const asc = [join(root, 'node_modules/assemblyscript/bin/asc.js'), 'assembly/index.ts', '--outFile', out];
    execFileSync(process.execPath, [...asc, '--initialMemory', String(PAGES), ...OPTIONS], { cwd: root });
    return Buffer.from(readFileSync(out));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function numbersOf(program: Buffer<ArrayBuffer>): [string, number][] {
  const memory = new WebAssembly.Memory({ initial: PAGES });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program), { env: { memory } });
  return Object.entries(exports).flatMap(([name, value]) =>
    value instanceof WebAssembly.Global ? [[name, value.value] as [string, number]] : [],
  );
}

export function renderScanner(): string {
  const program = compile();
  const numbers = numbersOf(program).map(([name, value]) => `export const ${name} = ${value};`);
  return `/**
 * Generated from assembly/ by \`npm run generate\`: the program of the scanner, and the numbers that it and its user speak in
 * (what they mean stands in assembly/layout.ts).
 */

${numbers.join('\n')}

/** Base64. It imports nothing but its memory, \`env.memory\`. */
export const PROGRAM =
  '${program.toString('base64')}';
`;
}
