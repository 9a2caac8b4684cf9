/** The visible table of detectors. To add one: a file here, its rule in rules.ts, a line below, a scenario (CONTRIBUTING.md). */
import { ambiguousClose } from './ambiguous-close.ts';
import type { DetectorSpec } from './detector.ts';
import { idMismatch } from './id-mismatch.ts';
import { lateErrorAfterTerminal } from './late-error-after-terminal.ts';
import { maskedRetry } from './masked-retry.ts';
import { parseFailureSizeStep } from './parse-failure-size-step.ts';
import { parseFailureTrend } from './parse-failure-trend.ts';
import { uncertainWrite } from './uncertain-write.ts';
import { unsafeRetry } from './unsafe-retry.ts';

export const DETECTORS: readonly DetectorSpec[] = [
  ambiguousClose,
  maskedRetry,
  unsafeRetry,
  uncertainWrite,
  parseFailureTrend,
  parseFailureSizeStep,
  lateErrorAfterTerminal,
  idMismatch,
];
