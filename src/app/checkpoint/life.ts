/**
 * The checkpoint as `run` uses it: owns the state folder, finds what a start goes on from, and makes the pipeline that goes on. Whatever
 * is wrong with the folder, there is a pipeline; only a second owner is refused. It must not decide when a record is written.
 */
import { type Cells, createCells } from '../../core/measures/cells.ts';
import { createPipeline, type Pipeline, type PipelineOptions } from '../../core/pipeline.ts';
import type { Saved } from '../../core/state.ts';
import { createDebut } from '../../exporters/debut.ts';
import { type FileTailState, readFileTailState } from '../../sources/file-state.ts';
import { reasonOf } from '../exit.ts';
import type { Logger } from '../log.ts';
import { ownFolder } from './owner-lock.ts';
import { type Restored, restore, type Start } from './restore.ts';
import { createSlots, type Slots } from './slots.ts';

export interface Life {
  readonly start: Start;
  readonly cells: Cells;
  readonly pipeline: Pipeline;
  /** Where the file source stood. */
  readonly files: FileTailState | undefined;
  /** When the counters began at 0, Unix ms. */
  readonly since: number;
  /** Parts of the record that are not the pipeline's: by names that begin with `otlp_`. */
  readonly otlp: Saved;
  /** undefined: nothing is kept. */
  readonly slots: Slots | undefined;
  release(): Promise<void>;
}

const RESULTS = ['restored', 'behind', 'none', 'unusable'] as const;
const REASONS = ['no_space', 'permission', 'io', 'slow', 'internal'] as const;

/** @throws where the record holds something that this version cannot go on from. */
function goOn(
  restored: Restored,
  filesName: string,
  options: PipelineOptions,
): Pick<Life, 'cells' | 'pipeline' | 'files' | 'since' | 'otlp'> {
  const cells = createCells();
  const pipeline = createPipeline({ ...options, cells });
  const { since = Date.now(), parts } = restored;
  if (restored.generation === 0) return { cells, pipeline, files: undefined, since, otlp: [] };
  // Numbers without the places that they go on from would count everything twice.
  const files = readFileTailState(restored.sources[filesName]);
  if (typeof files === 'string') throw new Error(`the state of source ${filesName}: ${files}`);
  pipeline.load(parts);
  const { at: takenAt } = restored;
  if (takenAt !== undefined) createDebut().resume(cells.families(), Math.max(0, Date.now() - takenAt));
  return { cells, pipeline, files, since, otlp: [...parts].filter(([name]) => name.startsWith('otlp_')) };
}

/** @throws RuntimeFailure where another process owns the folder. */
export async function beginLife(
  folder: string,
  filesName: string,
  log: Logger,
  options: PipelineOptions,
): Promise<Life> {
  const nothing: Restored = {
    start: 'none',
    sources: {},
    parts: [],
    since: undefined,
    at: undefined,
    generation: 0,
    problems: [],
  };
  if (folder === '') {
    const release = async (): Promise<void> => {};
    return { ...goOn(nothing, filesName, options), start: 'none', slots: undefined, release };
  }
  const lock = await ownFolder(folder);
  const slots = createSlots(folder);
  const restored = await restore(slots);
  // While nothing else has begun: beside the first reading it would take many times as long, and the first scrape wait for it.
  await slots.makeRoom().catch(() => {});
  const problems = [...restored.problems];
  let { start } = restored;
  let core: ReturnType<typeof goOn>;
  try {
    core = goOn(restored, filesName, options);
  } catch (error) {
    problems.push(`record ${restored.generation}: ${reasonOf(error)}`);
    start = 'unusable';
    core = goOn(nothing, filesName, options);
  }
  for (const problem of problems) log('warn', `state_dir: ${problem}`, { kind: 'checkpoint_unusable' });
  log('info', SAYS[start], { state_dir: folder, ...(start !== 'none' && { record: restored.generation }) });
  for (const result of RESULTS) core.cells.add('checkpoint_restores', result === start ? 1 : 0, [result]);
  for (const reason of REASONS) core.cells.touch('checkpoint_failures', [reason]);
  return {
    ...{ ...core, start, slots },
    async release() {
      await slots.close();
      lock.release();
    },
  };
}

const SAYS: Readonly<Record<Start, string>> = {
  restored: 'going on from the checkpoint',
  behind: 'going on from a checkpoint that is older than what was shown: /metrics answers when all is read again',
  none: 'no checkpoint yet: beginning',
  unusable: 'no checkpoint can be used: beginning again, /metrics answers when all is read',
};
