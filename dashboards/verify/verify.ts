/**
 * The boards and rules against a real Prometheus that holds the story: every query at both scrape intervals, the headlines at known times,
 * the alerts at theirs. It returns what it found; whoever calls decides.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CATALOG } from '../../src/core/measures/catalog.ts';
import { CONTENT_TYPES, type PrometheusExporter } from '../../src/exporters/prometheus.ts';
import { type Prometheus, type Series, startPrometheus } from '../../test/support/prometheus.ts';
import { until } from '../../test/support/until.ts';
import type { PlainGroup, PlainRule } from '../rules/render.ts';
import { faultsIn, faultsOf, legendLabels, metricTypes, type Types, zeroFaults } from './check.ts';
import { expand, type Filled, fillVariables, stepOf, type View } from './expand.ts';
import { FIRE, HEADLINES, type Headline, LAST, MOMENTS } from './headlines.ts';
import { type BoardJson, GENERATED, type PanelJson, panelsOf, readBoards, type TargetJson } from './read-boards.ts';
import { alertsAsOpenMetrics, type Firing, firings, inlined } from './rules.ts';
import { filledIn, runbookQueries } from './runbook.ts';
import { writeSnapshots } from './snapshots.ts';
import { BEGIN, END, INCIDENT, PODS, unixSeconds } from './story.ts';

export const SCRAPES = [15, 60] as const;
/** `each`: with every value chosen one by one, as a person would. Once is enough: the interval makes no difference to it. */
const MODES = { 15: ['all'], 60: ['all', 'each'] } as const;

/** Queries that are 0 all the time in the story, by panel, and why. */
const ZERO: Readonly<Record<string, string>> = {
  'Probability of failure by size A': 'nothing on the way cuts answers below 1 KiB',
  'Probability of failure by size I': 'the one dump of each ten minutes goes another way',
};

export interface Report {
  /** Queries that hold, by board, and by what the rules are. */
  readonly passed: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  readonly firings: readonly Firing[];
}
/** The story in blocks, one folder for each scrape interval, with the alerts that it fires. */
export interface Prepared {
  readonly data: Readonly<Record<number, string>>;
  /** What a live scrape would find. */
  readonly exporter: PrometheusExporter;
  readonly firings: readonly Firing[];
}
export interface VerifyOptions {
  readonly binary?: string;
  readonly boards?: readonly BoardJson[];
  readonly scrapes?: readonly (typeof SCRAPES)[number][];
  readonly log?: (line: string) => void;
}

export const readGroups = (name: string): readonly PlainRule[] =>
  (parse(readFileSync(`${GENERATED}/rules/${name}`, 'utf8')) as { groups: PlainGroup[] }).groups.flatMap(
    ({ rules }) => rules,
  );

function createBlocks(text: string, data: string): void {
  const { status, stderr } = spawnSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', text, data], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`promtool tsdb create-blocks-from: ${stderr}`);
}

/** The end of the story as a sidecar would serve it now. */
async function serve(exporter: PrometheusExporter): Promise<{ readonly address: string; close(): void }> {
  const server = createServer((_, response) => {
    exporter.render('openmetrics').then((text) => {
      response.setHeader('content-type', CONTENT_TYPES.openmetrics);
      response.end(text);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const WHOLE = (scrape: number): View => ({ from: unixSeconds(BEGIN), to: unixSeconds(END), scrape });

const ask = (
  prometheus: Prometheus,
  { expr, instant }: TargetJson,
  filled: Filled,
  view: View,
): Promise<readonly Series[]> => {
  const query = expand(expr, filled, view);
  return instant === true
    ? prometheus.instant(query, view.to)
    : prometheus.range(query, view.from, view.to, stepOf(view));
};

/** @param folder an empty one. */
export async function prepare(folder: string, binary = 'prometheus'): Promise<Prepared> {
  const texts = Object.fromEntries(SCRAPES.map((scrape) => [scrape, join(folder, `${scrape}s.txt`)]));
  const { exporters } = await writeSnapshots(texts);
  const data: Record<number, string> = {};
  for (const scrape of SCRAPES) {
    data[scrape] = join(folder, `data-${scrape}s`);
    mkdirSync(data[scrape] as string);
    createBlocks(texts[scrape] as string, data[scrape] as string);
  }
  // When alerts would have fired, as the annotations want to read it.
  const { from, to } = WHOLE(15);
  const prometheus = await startPrometheus({ binary, data: data[15] as string });
  let fired: readonly Firing[];
  try {
    const [recordings, alerts] = [readGroups('tailfin-recording.yaml'), readGroups('tailfin-alerts.yaml')];
    fired = await firings(prometheus, alerts, recordings, { from, to, step: 60 });
  } finally {
    await prometheus.stop();
  }
  const text = join(folder, 'alerts.txt');
  writeFileSync(text, alertsAsOpenMetrics(fired));
  for (const scrape of SCRAPES) createBlocks(text, data[scrape] as string);
  return { data, exporter: [...exporters.values()][0] as PrometheusExporter, firings: fired };
}

export async function verify(prepared: Prepared, options: VerifyOptions = {}): Promise<Report> {
  const { binary = 'prometheus', boards = readBoards(), scrapes = SCRAPES, log = () => {} } = options;
  const { data, exporter, firings: fired } = prepared;
  const failures: string[] = [];
  const passed: Record<string, number> = {};
  const note = (kind: string, place: string, found: readonly string[]): void => {
    if (found.length === 0) passed[kind] = (passed[kind] ?? 0) + 1;
    else failures.push(...found.map((each) => `${place}: ${each}`));
  };
  const attempt = async (kind: string, place: string, faults: () => Promise<readonly string[]>): Promise<void> => {
    try {
      note(kind, place, await faults());
    } catch (error) {
      note(kind, place, [(error as Error).message]);
    }
  };
  const recordings = readGroups('tailfin-recording.yaml');
  checkFirings(fired, note);
  for (const scrape of scrapes) {
    const live = await serve(exporter);
    const prometheus = await startPrometheus({ binary, data: data[scrape] as string, live: live.address });
    try {
      let types: Types = new Map();
      const known = async (): Promise<boolean> => {
        types = await metricTypes(prometheus);
        // The last of the exposition: metadata fills up while it is read.
        return types.has(CATALOG.build_info.name);
      };
      await until(known, { timeoutMs: 60_000, everyMs: 100, what: 'metadata of the live scrape' });
      const view = WHOLE(scrape);
      for (const board of boards)
        for (const mode of MODES[scrape]) {
          const filled = await fillVariables(board, prometheus, view, mode);
          for (const panel of panelsOf(board))
            for (const target of panel.targets ?? [])
              await attempt(
                board.uid,
                `${board.uid} / ${panel.title} ${target.refId} (${scrape} s, ${mode})`,
                async () => {
                  const result = await ask(prometheus, target, filled, view);
                  return [
                    ...faultsOf(target.expr, types),
                    ...faultsIn(result, legendLabels(target.legendFormat ?? '')),
                    ...(`${panel.title} ${target.refId}` in ZERO ? [] : zeroFaults(target.expr, result)),
                  ];
                },
              );
          for (const { name, expr, titleFormat = '' } of board.annotations.list)
            await attempt('annotations', `${board.uid} / ${name} (${scrape} s, ${mode})`, async () =>
              faultsIn(await ask(prometheus, { refId: 'Anno', expr }, filled, view), legendLabels(titleFormat)),
            );
        }
      for (const { record = '', expr } of recordings)
        await attempt('recording rules', `${record} (${scrape} s)`, async () =>
          faultsIn(await prometheus.range(inlined(expr, recordings), view.from, view.to, 60), []),
        );
      const servers = await prometheus.get<readonly string[]>('label/server/values', {
        start: String(view.from),
        end: String(view.to),
      });
      for (const { section, expr } of runbookQueries())
        await attempt('runbook', `runbook / ${section}: ${expr} (${scrape} s)`, async () => [
          ...faultsOf(expr, types),
          ...faultsIn(await askedOfAll(prometheus, expr, servers, view), []),
        ]);
      for (const headline of HEADLINES)
        await attempt('headlines', `${headline.board} / ${headline.panel} ${headline.target ?? ''} (${scrape} s)`, () =>
          headlineFaults(headline, boards, prometheus, scrape),
        );
      log(`queries at ${scrape} s are done`);
    } finally {
      await prometheus.stop();
      live.close();
    }
  }
  return { passed, failures, firings: fired };
}

/** As of every server and pod of the story: one of them has what is asked for. */
async function askedOfAll(
  prometheus: Prometheus,
  expr: string,
  servers: readonly string[],
  view: View,
): Promise<readonly Series[]> {
  const asked = new Set(servers.flatMap((server) => PODS.map(({ name }) => filledIn(expr, server, name))));
  const found: Series[] = [];
  for (const query of asked) found.push(...(await prometheus.range(query, view.from, view.to, 60)));
  return found;
}

function checkFirings(
  fired: readonly Firing[],
  note: (kind: string, place: string, found: readonly string[]) => void,
): void {
  for (const name of FIRE) {
    const own = fired.filter(({ alert }) => alert === name);
    const start = Math.min(...own.flatMap(({ times }) => times));
    const early = own.length > 0 && start < unixSeconds(INCIDENT) ? ['fires before the incident'] : [];
    note('alerts in the story', name, own.length === 0 ? ['does not fire'] : early);
  }
}

async function headlineFaults(
  headline: Headline,
  boards: readonly BoardJson[],
  prometheus: Prometheus,
  scrape: number,
): Promise<readonly string[]> {
  const board = boards.find(({ uid }) => uid === headline.board);
  const panel = board && panelsOf(board).find(({ title }) => title === headline.panel);
  const { targets = [] } = panel ?? ({} as PanelJson);
  const target = targets.find(({ legendFormat }) => headline.target === undefined || legendFormat === headline.target);
  if (board === undefined || target === undefined) return ['there is no such panel or query'];
  const filled = await fillVariables(board, prometheus, WHOLE(scrape), 'all');
  const found: string[] = [];
  for (const [moment, at] of Object.entries(MOMENTS)) {
    const view = { from: at - LAST, to: at, scrape };
    const series = (await prometheus.instant(expand(target.expr, filled, view), at)).filter(({ metric }) =>
      Object.entries(headline.labels ?? {}).every(([name, value]) => metric[name] === value),
    );
    // No value: nothing failed, so that there is nothing to have a share or a correlation of.
    const value = Math.max(0, ...series.flatMap(({ values }) => values.map(([, each]) => each)));
    const [low, high] = headline[moment as keyof typeof MOMENTS];
    if (!(value >= low && value <= high)) found.push(`${moment} the incident it says ${value}, not ${low} to ${high}`);
  }
  return found;
}
