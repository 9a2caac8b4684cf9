/**
 * prom-client's default metrics of this process, all but `nodejs_gc_duration_seconds`: its observer is called for every collection, of
 * which a backlog needs a hundred a second, takes a twentieth of the CPU then, and counts the first of each batch only.
 */
import { type Metric, Registry } from 'prom-client';
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js';
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js';
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js';
import processCpuTotal from 'prom-client/lib/metrics/processCpuTotal.js';
import processHandles from 'prom-client/lib/metrics/processHandles.js';
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import processRequests from 'prom-client/lib/metrics/processRequests.js';
import processResources from 'prom-client/lib/metrics/processResources.js';
import processStartTime from 'prom-client/lib/metrics/processStartTime.js';
import version from 'prom-client/lib/metrics/version.js';

const PARTS = [
  processCpuTotal,
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
  eventLoopLag,
  processResources,
  processHandles,
  processRequests,
  heapSizeAndUsed,
  heapSpacesSizeAndUsed,
  version,
];
/** Gauges with a counter's name: promtool refuses them. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
const LOOP_LOOKED_AT_MS = 10;

/** Measures from now on. They belong to no registry. */
export function processMetrics(): Metric[] {
  const own = new Registry();
  for (const add of PARTS) add(own, { eventLoopMonitoringPrecision: LOOP_LOOKED_AT_MS });
  for (const name of MISNAMED) own.removeSingleMetric(name);
  const metrics = own.getMetricsAsArray() as unknown as Metric[];
  own.clear();
  return metrics;
}
