// Bundles src into dist. Bundled because it starts in a third of the time and idles with less memory than the same code in
// node_modules (measured: docs/decisions/0002-bundle.md). Heavy parts are chunks behind `import()`.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('.', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

/**
 * NodeSDK imports every exporter there is, gRPC's included: 2 MB and 6 MiB at run time that this sidecar, which hands it exporters of its
 * own, never uses. They are left out of the chunk (docs/decisions/0019-opentelemetry-out.md).
 */
const UNUSED_OTEL =
  /^@opentelemetry\/(exporter-(trace|metrics|logs)-otlp-grpc|exporter-zipkin|exporter-prometheus|otlp-grpc-exporter-base|propagator-b3|propagator-jaeger|configuration|instrumentation)$/;
const withoutUnusedOtel = {
  name: 'without-unused-otel',
  setup(bundle) {
    bundle.onResolve({ filter: UNUSED_OTEL }, ({ path }) => ({ path, namespace: 'unused-otel' }));
    const contents = 'module.exports = { registerInstrumentations() {} };';
    bundle.onLoad({ filter: /.*/, namespace: 'unused-otel' }, () => ({ contents, loader: 'js' }));
  },
};

/**
 * Of express: a parser of bodies, which the sidecar reads itself, with the tables of every encoding; and 2,500 media types, of which it
 * answers with three. Half of the text that `run` would load, and 3 MiB at run time.
 */
const SERVED_TYPES = ['application/json', 'text/html', 'text/plain'];
const withoutUnusedExpress = {
  name: 'without-unused-express',
  setup(bundle) {
    bundle.onResolve({ filter: /^body-parser$/ }, ({ path }) => ({ path, namespace: 'unused-express' }));
    bundle.onLoad({ filter: /.*/, namespace: 'unused-express' }, () => ({
      contents: 'module.exports = {};',
      loader: 'js',
    }));
    bundle.onLoad({ filter: /mime-db[\\/]db\.json$/ }, ({ path }) => {
      const all = JSON.parse(readFileSync(path, 'utf8'));
      return {
        contents: JSON.stringify(Object.fromEntries(SERVED_TYPES.map((type) => [type, all[type]]))),
        loader: 'json',
      };
    });
  },
};

rmSync(`${root}/dist`, { recursive: true, force: true });
// The tap loads inside other people's processes: one CommonJS file, for --require and --import alike, without any package.
await build({
  absWorkingDir: root,
  entryPoints: { 'tailfin-tap': 'src/tap/tap.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
});
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/main.ts',
    classify: 'src/classify.ts',
    tap: 'src/tap/library.ts',
    'demo/host-2026': 'src/demo/host-2026.ts',
    'demo/host-2025': 'src/demo/host-2025.ts',
    'demo/server': 'src/demo/server.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  sourcesContent: false,
  chunkNames: 'chunks/[name]-[hash]',
  // The demo's MCP packages stay outside: they are development dependencies of a clone, not part of the sidecar.
  external: ['@modelcontextprotocol/*', 'zod'],
  plugins: [withoutUnusedOtel, withoutUnusedExpress],
  define: { __TAILFIN_VERSION__: JSON.stringify(version) },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(`${root}/dist/main.js`, 0o755);
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', import.meta.url));
execFileSync(process.execPath, [tsc, '-p', `${root}/tsconfig.types.json`], { stdio: 'inherit' });
