/**
 * Puts Tailfin's word beside the gateway's log: the sidecar's live counters, and the records and counters of an offline replay of
 * the same files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayEntry } from './gateway.ts';
import { differences, parseExposition } from './prom-text.ts';
import { replay, type Sidecar } from './sidecar.ts';
import { measureSignals, type OperationRecord, type Signals } from './signals.ts';
import { checkVerdicts, type VerdictCheck, type VerdictRecord } from './verdict-check.ts';

export interface Findings {
  readonly signals: Signals;
  readonly check: VerdictCheck;
  /** Series of tailfin_stream_closes_total that differ between the live endpoint and the replay. */
  readonly liveDifferences: readonly string[];
  /** The sidecar had counted every line when it was asked. */
  readonly complete: boolean;
}

const CATCH_UP_MS = 15_000;

export async function compare(
  dist: string,
  folder: string,
  sidecar: Sidecar,
  log: readonly GatewayEntry[],
): Promise<Findings> {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const events = files.flatMap(readEvents);
  const exchanges = new Map(events.map(({ trace, exchange }) => [trace, exchange]));
  const complete = await sidecar.caughtUp(events.length, CATCH_UP_MS);
  const live = await sidecar.scrape();
  const json = await replay(dist, 'json', files);
  const offline = parseExposition(await replay(dist, 'prom', files));
  const records = json
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as VerdictRecord | OperationRecord);
  const verdicts = records.filter((record) => record.record === 'verdict');
  return {
    signals: measureSignals(records, offline, log),
    check: checkVerdicts(
      verdicts,
      log.map((entry) => ({ ...entry, exchange: exchanges.get(entry.trace) ?? entry.trace })),
    ),
    liveDifferences: differences('tailfin_stream_closes_total', live, offline),
    complete,
  };
}

interface EventLine {
  readonly type: string;
  readonly exchange?: string;
  readonly trace?: string;
}

/** The events of one segment file: its first and last line are none. */
function readEvents(file: string): EventLine[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const all = lines.map((line) => JSON.parse(line) as EventLine);
  return all.filter(({ type }) => type !== 'segment' && type !== 'end');
}
