/**
 * `tailfin inject` and `uninject` over streams of YAML documents: kubectl's output, Helm's (as a post-renderer) and the ResourceList
 * of KRM functions. What is injected is decided by src/k8s; here is only the text around it. All or nothing: when one workload is
 * refused, nothing is printed, so that a pipe into `kubectl apply` applies nothing.
 */
import { readFileSync } from 'node:fs';
import type { Document } from 'yaml';
import { type InjectOptions, InjectRefusal } from '../k8s/options.ts';
import { injectTemplate, uninjectTemplate, wishOf } from '../k8s/template.ts';
import type { PodTemplate } from '../k8s/types.ts';
import { isInjected, uninject } from '../k8s/uninject.ts';
import { warningsOf } from '../k8s/warnings.ts';
import { type Workload, workloadsOf } from '../k8s/workload.ts';
import { ConfigError } from './config-merge.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';
import { hasAliases, writeOut } from './yaml-anchors.ts';
import { edit } from './yaml-edit.ts';
import { type ParsedDocument, parseOne, printDocument, type StreamDocument, splitStream } from './yaml-stream.ts';

export interface StreamChoice {
  /** `Kind/name`; empty: all workloads. */
  readonly only: readonly string[];
  /** Only templates with the label (or annotation) tailfin.dev/inject: "true". */
  readonly labelled: boolean;
}
export interface StreamResult {
  readonly text: string;
  /** Workloads that were changed. */
  readonly changed: readonly string[];
  readonly notes: readonly string[];
}
type Change = (template: PodTemplate, krm: Readonly<Record<string, string>> | undefined) => PodTemplate;

export async function readInput(file: string): Promise<string> {
  try {
    if (file !== '-') return readFileSync(file, 'utf8');
    const parts: Buffer[] = [];
    for await (const part of process.stdin) parts.push(part as Buffer);
    return Buffer.concat(parts).toString('utf8');
  } catch (error) {
    throw new RuntimeFailure(`cannot read ${file === '-' ? 'standard input' : file}: ${reasonOf(error)}`);
  }
}

/** `options` may depend on the functionConfig of a ResourceList. @throws ConfigError with every refusal */
export function injectStream(
  file: string,
  text: string,
  options: (krm: Readonly<Record<string, string>> | undefined) => InjectOptions,
  { only, labelled }: StreamChoice,
): StreamResult {
  const wanted = ({ name, template }: Workload): boolean => {
    const wish = wishOf(template);
    if (wish === 'false' || (labelled && wish !== 'true')) return false;
    return only.length === 0 || only.some((each) => each.toLowerCase() === name.toLowerCase());
  };
  return changeStream(file, text, wanted, (template, krm) => injectTemplate(template, options(krm)));
}

export function uninjectStream(file: string, text: string): StreamResult {
  return changeStream(file, text, ({ template }) => isInjected(template.spec), uninjectTemplate);
}

function changeStream(
  file: string,
  text: string,
  wanted: (workload: Workload) => boolean,
  change: Change,
): StreamResult {
  const problems: string[] = [];
  const changed: string[] = [];
  const notes: string[] = [];
  const shown = file === '-' ? 'stdin' : file;
  const parts = splitStream(text).map((part) => {
    const parsed = parseOne(part);
    const refuse = (all: ParsedDocument['problems']) => {
      problems.push(...all.map(({ line, text }) => `${shown}:${line}: ${text}`));
      return part.text;
    };
    if (parsed.problems.length > 0) return refuse(parsed.problems);
    const workloads = workloadsOf(parsed.value).filter(wanted);
    if (workloads.length === 0) return part.text;
    if (parsed.duplicates.length > 0) return refuse(parsed.duplicates);
    return changeDocument(part, parsed, workloads, change, {
      refuse: (line, what) => problems.push(`${shown}:${line}: ${what}`),
      changed: (name) => changed.push(name),
      note: (line, what) => notes.push(`${shown}:${line}: ${what}`),
    });
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return { text: joined(parts), changed, notes };
}

/** A document that was printed anew ends its last line; the next one needs that. */
const joined = (parts: readonly string[]): string =>
  parts.map((part, index) => (index < parts.length - 1 && !part.endsWith('\n') ? `${part}\n` : part)).join('');

interface Report {
  refuse(line: number, what: string): void;
  changed(name: string): void;
  note(line: number, what: string): void;
}

function changeDocument(
  part: StreamDocument,
  parsed: ParsedDocument,
  workloads: readonly Workload[],
  change: Change,
  report: Report,
): string {
  const { document, value }: { document: Document; value: unknown } = parsed;
  const krm = functionConfig(value);
  const changes = workloads.flatMap((workload) => {
    const { path, name, template } = workload;
    try {
      const next = change(template, krm);
      report.changed(name);
      // Of an injection alone: what is taken out again is as it was.
      if (isInjected(next.spec))
        for (const warning of warningsOf(uninject(template.spec), next.spec))
          report.note(parsed.lineOf([...path, 'spec']), `${name}: ${warning}`);
      return [{ path, template, next }];
    } catch (error) {
      if (!(error instanceof InjectRefusal)) throw error;
      const field = [...path, 'spec', ...error.field];
      report.refuse(parsed.lineOf(field), `${name}: ${fieldText(field)}: ${error.message}`);
      return [];
    }
  });
  if (hasAliases(document)) {
    report.note(part.linesBefore + 1, 'anchors of this document are written out');
    writeOut(document);
  }
  for (const { path, template, next } of changes) edit(document, path, template, next);
  return printDocument(document, part.text);
}

const fieldText = (path: readonly (string | number)[]): string =>
  path
    .map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`))
    .join('')
    .replace(/^\./, '');

/** The `data` of a ResourceList's functionConfig (a ConfigMap); undefined for anything else. */
function functionConfig(value: unknown): Readonly<Record<string, string>> | undefined {
  const { kind, functionConfig } = (value ?? {}) as { kind?: unknown; functionConfig?: { data?: unknown } };
  return kind === 'ResourceList' ? ((functionConfig?.data ?? {}) as Record<string, string>) : undefined;
}
