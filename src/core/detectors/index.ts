/** The visible table of detectors. To add one: a file here, its rule in rules.ts, a line below, a scenario (CONTRIBUTING.md). */
import { ambiguousClose } from './ambiguous-close.ts';
import { cancelNotificationOn20260728 } from './cancel-notification-on-2026-07-28.ts';
import { closedClientCall } from './closed-client-call.ts';
import { collateralFailure } from './collateral-failure.ts';
import type { DetectorSpec } from './detector.ts';
import { discardedResponse } from './discarded-response.ts';
import { duplicateExecutionAmongSuccesses } from './duplicate-execution-among-successes.ts';
import { duplicateInFlightId } from './duplicate-in-flight-id.ts';
import { endpointTerminationBurst } from './endpoint-termination-burst.ts';
import { eraDowngrade } from './era-downgrade.ts';
import { eventIdOn20260728 } from './event-id-on-2026-07-28.ts';
import { executedWithoutTerminal } from './executed-without-terminal.ts';
import { getOrDeleteOn20260728 } from './get-or-delete-on-2026-07-28.ts';
import { handleErrorAsJsonRpcError } from './handle-error-as-json-rpc-error.ts';
import { headerVsMetaVersionMismatch } from './header-vs-meta-version-mismatch.ts';
import { idMismatch } from './id-mismatch.ts';
import { keepAliveRace } from './keep-alive-race.ts';
import { lastEventIdOn20260728 } from './last-event-id-on-2026-07-28.ts';
import { lateErrorAfterTerminal } from './late-error-after-terminal.ts';
import { listChangedAfterCall } from './list-changed-after-call.ts';
import { listDrift } from './list-drift.ts';
import { maskedRetry } from './masked-retry.ts';
import { misattributedTimeout } from './misattributed-timeout.ts';
import { missingMetaCapabilities } from './missing-meta-capabilities.ts';
import { missingMetaVersion } from './missing-meta-version.ts';
import { missingReinitialize } from './missing-reinitialize.ts';
import { needlessReconnect } from './needless-reconnect.ts';
import { neverAnswered } from './never-answered.ts';
import { openCloseLoop } from './open-close-loop.ts';
import { parseFailureSizeStep } from './parse-failure-size-step.ts';
import { parseFailureTrend } from './parse-failure-trend.ts';
import { periodicCut } from './periodic-cut.ts';
import { reconnectLoop } from './reconnect-loop.ts';
import { repairedArguments } from './repaired-arguments.ts';
import { requestAmplification } from './request-amplification.ts';
import { resumeFailed } from './resume-failed.ts';
import { sessionHeaderOn20260728 } from './session-header-on-2026-07-28.ts';
import { silentHang } from './silent-hang.ts';
import { stallThenInstantIdenticalRetry } from './stall-then-instant-identical-retry.ts';
import { uncertainWrite } from './uncertain-write.ts';
import { unsafeRetry } from './unsafe-retry.ts';

export const DETECTORS: readonly DetectorSpec[] = [
  ambiguousClose,
  maskedRetry,
  unsafeRetry,
  uncertainWrite,
  parseFailureTrend,
  parseFailureSizeStep,
  collateralFailure,
  closedClientCall,
  silentHang,
  misattributedTimeout,
  neverAnswered,
  discardedResponse,
  stallThenInstantIdenticalRetry,
  lateErrorAfterTerminal,
  idMismatch,
  duplicateInFlightId,
  duplicateExecutionAmongSuccesses,
  executedWithoutTerminal,
  repairedArguments,
  sessionHeaderOn20260728,
  lastEventIdOn20260728,
  eventIdOn20260728,
  getOrDeleteOn20260728,
  cancelNotificationOn20260728,
  missingMetaVersion,
  missingMetaCapabilities,
  headerVsMetaVersionMismatch,
  handleErrorAsJsonRpcError,
  listDrift,
  listChangedAfterCall,
  eraDowngrade,
  missingReinitialize,
  needlessReconnect,
  resumeFailed,
  openCloseLoop,
  reconnectLoop,
  requestAmplification,
  endpointTerminationBurst,
  keepAliveRace,
  periodicCut,
];
