/**
 * The dependency rules of the source folders (docs/architecture.md), a core without clock, chance and I/O, no cycles, a header in
 * every file, and short files. Each rule is shown to catch a violation first.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

interface Import {
  readonly line: number;
  /** Path below src of an own file; otherwise the specifier (`node:fs`, `express`). */
  readonly to: string;
  readonly own: boolean;
  /** `import type`: nothing is left of it at run time. `import { type X }` is not one, the module is still loaded. */
  readonly typeOnly: boolean;
}

interface Rule {
  /** A file, or a folder with its slash; the first one that fits a file is its rule. */
  readonly of: string;
  readonly text: string;
  readonly allows: (to: Import) => boolean;
}

const below =
  (...places: readonly string[]) =>
  ({ own, to }: Import): boolean =>
    own && places.some((place) => (place.endsWith('/') ? to.startsWith(place) : to === place));
const outside = ({ own }: Import): boolean => !own;

/** What detectors may share: their contract, their names, and memories that decide nothing. */
const SHARED_BY_DETECTORS = ['detector', 'rules', 'trend-window', 'recent', 'call-key', 'listed', 'success-log'].map(
  (name) => `core/detectors/${name}.ts`,
);

const RULES: readonly Rule[] = [
  {
    of: 'core/model/',
    text: 'model: model, protocol, and types of detectors/rules.ts',
    allows: (to) => below('core/model/', 'core/protocol/')(to) || (to.typeOnly && below('core/detectors/rules.ts')(to)),
  },
  { of: 'core/protocol/', text: 'protocol: model and protocol', allows: below('core/model/', 'core/protocol/') },
  { of: 'core/detectors/index.ts', text: 'the table of detectors: the core', allows: below('core/') },
  {
    of: 'core/detectors/',
    text: 'a detector: the core, but no other detector',
    allows: (to) => below('core/')(to) && (!below('core/detectors/')(to) || below(...SHARED_BY_DETECTORS)(to)),
  },
  { of: 'core/', text: 'core: the core alone, no node: and no package', allows: below('core/') },
  {
    of: 'sources/',
    text: 'sources: core/model and sources',
    allows: (to) => outside(to) || below('core/model/', 'sources/')(to),
  },
  {
    of: 'exporters/',
    text: 'exporters: core and exporters',
    allows: (to) => outside(to) || below('core/', 'exporters/')(to),
  },
  {
    of: 'demo/',
    text: 'demo: of core/stages only types',
    allows: (to) => to.typeOnly || !below('core/stages/')(to),
  },
  {
    of: 'tap/settle/find-sdk.ts',
    text: 'find-sdk: as the tap, and the module of the host that it has found loaded',
    allows: (to) => (to.own ? below('tap/')(to) : to.to.startsWith('node:') || to.to === '(file)'),
  },
  {
    of: 'tap/',
    text: 'tap: tap, core/model, core/protocol and Node, no package',
    allows: (to) => (to.own ? below('tap/', 'core/model/', 'core/protocol/')(to) : to.to.startsWith('node:')),
  },
  { of: 'k8s/', text: 'k8s: k8s alone, no node: and no package', allows: below('k8s/') },
  { of: 'app/', text: 'app: anything', allows: () => true },
  { of: 'main.ts', text: 'main: app', allows: below('app/') },
  { of: 'classify.ts', text: 'classify: core', allows: below('core/') },
];

/** Names that bring the clock, chance or the outside world into the core. Of Date only `Date.parse` is a pure function. */
const IMPURE = new Set([
  ...['Date', 'performance', 'process', 'console', 'globalThis', 'fetch', 'crypto', 'require', 'Buffer'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
]);

const MAX_LINES = 300;
const LONG_FILES: Readonly<Record<string, string>> = {
  'core/measures/catalog.ts': 'one table, read from top to bottom',
};

type Files = ReadonlyMap<string, string>;

const parse = (path: string, text: string) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

function importsOf(path: string, source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    // A computed specifier could be anything: no rule allows it but that of app.
    const name = ts.isStringLiteralLike(specifier) ? specifier.text : `(${specifier.getText()})`;
    const own = name.startsWith('.');
    found.push({ line, to: own ? posix.join(posix.dirname(path), name) : name, own, typeOnly });
  };
  walk(source, (node) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, node.importClause?.isTypeOnly ?? false);
    else if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal, true);
    else if (ts.isExternalModuleReference(node)) add(node, node.expression, false);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node, node.arguments[0], false);
  });
  return found;
}

/** A name in the place of a property says nothing about what it reaches: `{ process: true }`, `options.process`. */
function isPropertyName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isShorthandPropertyAssignment(parent)) return false;
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodSignature(parent))
    return parent.name === node;
  if (ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent)) return parent.name === node;
  return ts.isBindingElement(parent) && parent.propertyName === node;
}

function impurities(source: ts.SourceFile): string[] {
  const found: string[] = [];
  walk(source, (node) => {
    if (!ts.isIdentifier(node) || isPropertyName(node)) return;
    const { parent, text } = node;
    const member = ts.isPropertyAccessExpression(parent) && parent.expression === node ? parent.name.text : undefined;
    const isImpure = text === 'Math' ? member !== undefined && member === 'random' : IMPURE.has(text);
    if (!isImpure || (text === 'Date' && member === 'parse')) return;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${line + 1}: ${parent.getText().split('\n')[0]}`);
  });
  return found;
}

/** The shortest way round from each file that lies on a cycle, once per cycle. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Map<string, string>();
  for (const start of graph.keys()) {
    const cameFrom = new Map<string, string>();
    const queue = [start];
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      if ((graph.get(at) ?? []).includes(start)) {
        const way = [at];
        while (way[0] !== start) way.unshift(cameFrom.get(way[0]!)!);
        const key = [...way].sort().join();
        if (!found.has(key)) found.set(key, [...way, start].join(' -> '));
        break;
      }
      for (const next of graph.get(at) ?? []) {
        if (next === start || cameFrom.has(next)) continue;
        cameFrom.set(next, at);
        queue.push(next);
      }
    }
  }
  return [...found.values()];
}

/** Everything that is wrong, one line each. */
function violations(files: Files): string[] {
  const found: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, text] of files) {
    const source = parse(path, text);
    const imports = importsOf(path, source);
    const rule = RULES.find(({ of }) => (of.endsWith('/') ? path.startsWith(of) : path === of));
    if (rule === undefined) found.push(`${path}: its folder has no rule`);
    for (const to of imports) {
      if (rule !== undefined && !rule.allows(to)) found.push(`${path}:${to.line}: imports ${to.to} (${rule.text})`);
      if (to.own && !files.has(to.to)) found.push(`${path}:${to.line}: imports ${to.to}, which is not there`);
    }
    graph.set(path, [...new Set(imports.filter(({ own, typeOnly }) => own && !typeOnly).map(({ to }) => to))]);
    if (/^(core|k8s)\//.test(path))
      found.push(...impurities(source).map((what) => `${path}:${what} (the core is pure)`));
    if (!/^(#!.*\n)?(\/\*\*|\/\/)/.test(text)) found.push(`${path}: starts without a comment that says what it is for`);
    const lines = text.trimEnd().split('\n').length;
    if (lines > MAX_LINES && LONG_FILES[path] === undefined)
      found.push(`${path}: ${lines} lines (${MAX_LINES} at most)`);
    if (lines <= MAX_LINES && LONG_FILES[path] !== undefined) found.push(`${path}: is short, it needs no exception`);
  }
  for (const cycle of cycles(graph)) found.push(`cycle: ${cycle}`);
  return found.sort();
}

function readSources(): Files {
  const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => /\.[cm]?[jt]s$/.test(path));
  return new Map(paths.sort().map((path) => [path.replaceAll('\\', '/'), readFileSync(join(SRC, path), 'utf8')]));
}

test('the sources keep every rule', () => {
  const sources = readSources();
  assert.ok(sources.size > 50, `${sources.size} files`);
  assert.deepEqual(violations(sources), []);
});

describe('the rules catch', () => {
  const HEADER = '/** A file. */\n';
  /** Violations of some made-up files; each gets a header, and every file that it imports exists. */
  const inFiles = (files: Readonly<Record<string, string>>): string[] => {
    const all = new Map(Object.entries(files).map(([path, text]) => [path, HEADER + text]));
    for (const [path, text] of [...all])
      for (const { own, to } of importsOf(path, parse(path, text))) if (own && !all.has(to)) all.set(to, HEADER);
    return violations(all).filter((line) => !line.endsWith('it needs no exception'));
  };

  const FORBIDDEN: readonly (readonly [path: string, text: string])[] = [
    ['core/stages/a.ts', "import { readFileSync } from 'node:fs';"],
    ['core/stages/a.ts', "import type { Stats } from 'node:fs';"],
    ['core/stages/a.ts', "import picomatch from 'picomatch';"],
    ['core/stages/a.ts', "import { run } from '../../app/run.ts';"],
    ['core/stages/a.ts', "import type { Config } from '../../app/config.ts';"],
    ['core/stages/a.ts', "export * from '../../sources/source.ts';"],
    ['core/stages/a.ts', "type A = import('../../app/run.ts').A;"],
    ['core/stages/a.ts', "const a = await import('../../app/run.ts');"],
    ['core/stages/a.ts', "const a = await import('node' + ':fs');"],
    ['core/stages/a.ts', "import fs = require('fs');"],
    ['core/model/a.ts', "import { RULES } from '../detectors/rules.ts';"],
    ['core/model/a.ts', "import { type RuleName } from '../detectors/rules.ts';"],
    ['core/model/a.ts', "import type { Detector } from '../detectors/detector.ts';"],
    ['core/model/a.ts', "import type { Stage } from '../stage.ts';"],
    ['core/protocol/a.ts', "import type { Cells } from '../measures/cells.ts';"],
    ['core/detectors/a.ts', "import { b } from './b.ts';"],
    ['core/detectors/a.ts', "import { DETECTORS } from './index.ts';"],
    ['sources/a.ts', "import type { Pipeline } from '../core/pipeline.ts';"],
    ['sources/a.ts', "import { RuntimeFailure } from '../app/exit.ts';"],
    ['exporters/a.ts', "import type { Source } from '../sources/source.ts';"],
    ['exporters/a.ts', "import type { Config } from '../app/config.ts';"],
    ['tap/a.ts', "import picomatch from 'picomatch';"],
    ['tap/a.ts', 'const a = await import(file);'],
    ['tap/settle/find-sdk.ts', "const a = await import('picomatch');"],
    ['tap/a.ts', "import { decode } from '../core/stages/decode.ts';"],
    ['tap/a.ts', "import type { Source } from '../sources/source.ts';"],
    ['demo/a.ts', "import { decode } from '../core/stages/decode.ts';"],
    ['main.ts', "import { createPipeline } from './core/pipeline.ts';"],
    ['classify.ts', "import { run } from './app/run.ts';"],
  ];
  for (const [path, text] of FORBIDDEN) {
    test(`${path}: ${text}`, () => {
      const found = inFiles({ [path]: text });
      assert.equal(found.length, 1, found.join('\n'));
      assert.ok(found[0]!.startsWith(`${path}:2: `), found[0]);
    });
  }

  test('and nothing of what is allowed', () => {
    assert.deepEqual(
      inFiles({
        'core/stages/a.ts': "import { b } from './b.ts';\nimport { c } from '../model/c.ts';",
        'core/model/a.ts': "import type { R } from '../detectors/rules.ts';\nimport { p } from '../protocol/p.ts';",
        'core/protocol/a.ts': "import { b } from './b.ts';\nimport { c } from '../model/c.ts';",
        'core/detectors/a.ts': "import { d } from './detector.ts';\nimport { w } from './trend-window.ts';",
        'core/detectors/index.ts': "import { a } from './a.ts';",
        'sources/a.ts':
          "import fs from 'node:fs';\nimport g from 'tinyglobby';\nimport { L } from '../core/model/limits.ts';",
        'exporters/a.ts': "import { R } from 'prom-client';\nimport { c } from '../core/measures/catalog.ts';",
        'demo/a.ts': "import type { D } from '../core/stages/decode.ts';\nimport { E } from '../core/model/fields.ts';",
        'tap/a.ts':
          "import fs from 'node:fs';\nimport { F } from '../core/model/fields.ts';\nimport { w } from './w.ts';",
        'app/a.ts': "import e from 'express';\nconst d = await import('../demo/demo.ts');",
        'main.ts': "import { main } from './app/cli.ts';",
        'classify.ts': "export { a } from './core/model/verdict.ts';",
      }),
      [],
    );
  });

  test('clock, chance and the outside world in the core, and there alone', () => {
    const IMPURE_LINES = [
      'const a = Date.now();',
      'const a = new Date();',
      'const a = new Date(0);',
      'const a = Date;',
      'const a = Math.random();',
      'const a = performance.now();',
      'const a = process.env.HOME;',
      'const a = { process };',
      'setTimeout(() => {}, 1);',
      'setInterval(f, 1);',
      'setImmediate(f);',
      "console.log('x');",
      'const a = globalThis.x;',
      "await fetch('http://x');",
      'const a = crypto.randomUUID();',
      "const a = require('fs');",
    ];
    for (const line of IMPURE_LINES) {
      const found = inFiles({ 'core/a.ts': line });
      assert.equal(found.length, 1, `${line}\n${found.join('\n')}`);
      assert.match(found[0]!, /^core\/a\.ts:2: .*the core is pure/);
      assert.deepEqual(inFiles({ 'app/a.ts': line }), []);
    }
    for (const line of [
      "const a = Date.parse('2026-01-01');",
      'const a = Math.max(1, 2);',
      'interface A { readonly process: boolean }',
      'const a = options.process ?? { console: 1 };',
      '// Date.now() and process are only mentioned',
      "const a = 'Date.now()';",
    ]) {
      assert.deepEqual(inFiles({ 'core/a.ts': line }), [], line);
    }
  });

  test('a cycle of values, whatever its length; types may go round', () => {
    const ring = {
      'app/a.ts': "import { b } from './b.ts';",
      'app/b.ts': "export { c } from './c.ts';\nimport './d.ts';",
      'app/c.ts': "const a = await import('./a.ts');",
    };
    assert.deepEqual(inFiles(ring), ['cycle: app/a.ts -> app/b.ts -> app/c.ts -> app/a.ts']);
    assert.deepEqual(inFiles({ ...ring, 'app/c.ts': "import type { a } from './a.ts';" }), []);
    assert.deepEqual(inFiles({ ...ring, 'app/c.ts': "import { type a } from './a.ts';" }).length, 1);
    assert.deepEqual(inFiles({ 'app/a.ts': "import { a } from './a.ts';" }), ['cycle: app/a.ts -> app/a.ts']);
  });

  test('a file without a header, in a new folder, too long, or importing what is not there', () => {
    assert.deepEqual(violations(new Map([['app/a.ts', 'export const a = 1;\n/** late */\n']])), [
      'app/a.ts: starts without a comment that says what it is for',
    ]);
    assert.deepEqual(violations(new Map([['main.ts', '#!/usr/bin/env node\n/** Starts. */\n']])), []);
    assert.deepEqual(inFiles({ 'proxy/a.ts': '' }), ['proxy/a.ts: its folder has no rule']);
    const long = 'let a = 1;\n'.repeat(300);
    assert.deepEqual(inFiles({ 'app/a.ts': long }), ['app/a.ts: 301 lines (300 at most)']);
    assert.deepEqual(inFiles({ 'core/measures/catalog.ts': long }), []);
    assert.deepEqual(violations(new Map([['core/measures/catalog.ts', HEADER]])), [
      'core/measures/catalog.ts: is short, it needs no exception',
    ]);
    assert.deepEqual(violations(new Map([['app/a.ts', `${HEADER}import { b } from './b.js';\n`]])), [
      'app/a.ts:2: imports app/b.js, which is not there',
    ]);
  });
});
