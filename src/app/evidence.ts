/**
 * Evidence in `run`: every fact is looked at, what there is to show is made into a record within the allowed rate, kept for
 * `/api/evidence`, and handed to the configured output. It must not hold up the pipeline, whatever becomes of the output; what is left
 * out is counted. (docs/decisions/0009-evidence.md)
 */
import type { Cells } from '../core/measures/cells.ts';
import type { Fact } from '../core/model/facts.ts';
import { EVIDENCE_RECORDS, evidenceOf, subjectOf } from '../exporters/evidence.ts';
import { type BoundedWriter, createBoundedWriter } from './bounded-writer.ts';
import type { Config } from './config-keys.ts';
import { createEvidenceApi } from './evidence-api.ts';
import { createEvidenceRing } from './evidence-ring.ts';
import { reasonOf } from './exit.ts';
import type { LocalPart } from './local-app.ts';
import type { Logger } from './log.ts';
import { createRotatedFile } from './rotated-file.ts';
import { createTokenBucket } from './token-bucket.ts';

const KEPT = 500;
const CLOSE_MS = 1000;
/** Of records that are not made there is one debug line for so long. */
const SUPPRESSED_WINDOW_MS = 10_000;
const REASONS = ['rate_limit', 'slow_reader', 'write_failed'] as const;
type Reason = (typeof REASONS)[number];

export interface EvidenceOptions {
  readonly config: Pick<Config, 'evidenceFile' | 'evidenceFileBytes' | 'evidenceOldFiles' | 'evidenceMaxPerSecond'>;
  readonly cells: Cells;
  readonly log: Logger;
  readonly stdout: NodeJS.WriteStream;
  /** Told of each record that is made, while its fact is valid. */
  readonly onRecord?: (fact: Fact, record: Readonly<Record<string, unknown>>) => void;
  /** Milliseconds that never go back. */
  readonly elapsed?: () => number;
}

export interface Evidence {
  /** `cause`: of a finding, the fact that it was found in. Clean verdicts and what delivered at the first try show nothing. */
  onFact(fact: Fact, cause: Fact | null): void;
  readonly part: LocalPart;
  /** Writes what is held, for at most a second. */
  close(): Promise<void>;
}

interface Output {
  write(line: string): void;
  close(): Promise<void>;
}
type Drop = (lines: number, reason: Reason) => void;

function fileOutput(config: EvidenceOptions['config'], drop: Drop, log: Logger): Output {
  const path = config.evidenceFile;
  const file = createRotatedFile({
    path,
    maxBytes: config.evidenceFileBytes,
    oldFiles: config.evidenceOldFiles,
    onDropped: drop,
    onFault(reason) {
      if (reason === null) log('info', `can write evidence to ${path} again`, { kind: 'evidence_output' });
      else
        log('warn', `cannot write evidence to ${path}: ${reason}; records are dropped and counted until it works`, {
          kind: 'evidence_output',
        });
    },
  });
  return { write: file.write, close: () => file.close(CLOSE_MS) };
}

function stdoutOutput(stdout: BoundedWriter, drop: Drop, log: Logger): Output {
  let isLost = false;
  return {
    write(line) {
      const reason = stdout.write(line);
      if (reason === null) return;
      drop(1, reason);
      if (reason !== 'write_failed' || isLost) return;
      isLost = true;
      const why = reasonOf(stdout.failure() ?? 'closed');
      log('warn', `cannot write evidence to stdout: ${why}; records are dropped and counted until a restart`, {
        kind: 'evidence_output',
      });
    },
    // A pipe that is read is empty by now; one that is not must not hold up the stop.
    close: async () => {},
  };
}

/** Says at its end how many records were not made while it was open. */
function suppressionWindow(log: Logger, suppressed: () => number): { open(): void; end(): void } {
  let before = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    log('debug', `${suppressed() - before} evidence records were not made (rate_limit)`, {
      kind: 'evidence_suppressed',
    });
  };
  return {
    open() {
      if (timer !== undefined) return;
      before = suppressed() - 1;
      timer = setTimeout(end, SUPPRESSED_WINDOW_MS);
      timer.unref();
    },
    end,
  };
}

export function createEvidence(options: EvidenceOptions): Evidence {
  const { config, cells, log, stdout, onRecord, elapsed = () => performance.now() } = options;
  const ring = createEvidenceRing(KEPT);
  const bucket = createTokenBucket(config.evidenceMaxPerSecond, elapsed);
  let suppressed = 0;
  for (const record of EVIDENCE_RECORDS) cells.touch('evidence_records', [record]);
  for (const reason of REASONS) cells.touch('evidence_suppressed', [reason]);
  const drop: Drop = (lines, reason) => cells.add('evidence_suppressed', lines, [reason]);

  const window = suppressionWindow(log, () => suppressed);
  const output: Output | undefined =
    config.evidenceFile === ''
      ? undefined
      : config.evidenceFile === '-'
        ? stdoutOutput(createBoundedWriter(stdout), drop, log)
        : fileOutput(config, drop, log);

  return {
    onFact(fact, cause) {
      const subject = subjectOf(fact);
      if (subject === null) return;
      if (!bucket.take(`${subject.record} ${subject.word}`)) {
        suppressed++;
        drop(1, 'rate_limit');
        window.open();
        return;
      }
      const record = evidenceOf(fact, cause);
      const line = JSON.stringify(record);
      ring.add(record, line);
      cells.add('evidence_records', 1, [subject.record]);
      output?.write(`${line}\n`);
      onRecord?.(fact, record);
    },
    part: createEvidenceApi(ring, KEPT, () => suppressed),
    async close() {
      window.end();
      await output?.close();
    },
  };
}
