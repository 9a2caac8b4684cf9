/** What the scrape listener serves: /metrics, /healthz, /readyz. It shows counts and states only, so it may listen on all interfaces. */
import express from 'express';
import type { SourceStatus } from '../sources/source.ts';
import { failPlainly } from './fail-plainly.ts';
import { VERSION } from './version.ts';

export interface MetricsAppOptions {
  readonly contentType: string;
  readonly metrics: () => Promise<string>;
  readonly statuses: () => readonly SourceStatus[];
}

/** Why the sidecar is not (yet) doing its whole job; empty when it is. */
export function notReady(statuses: readonly SourceStatus[]): string[] {
  return statuses.flatMap((status) => [
    ...status.faults.map((fault) => `source fault: ${fault}`),
    ...(status.state === 'waiting' ? [`${status.name}: waiting for files`] : []),
    ...(status.state === 'replaying' ? [`${status.name}: replaying, ${status.lagBytes} bytes behind`] : []),
  ]);
}

export function createMetricsApp({ contentType, metrics, statuses }: MetricsAppOptions): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/metrics', async (_request, response) => {
    const body = await metrics();
    response.set('Content-Type', contentType).send(body);
  });
  // Liveness: it answers while the event loop turns, and looks at nothing that could be slow.
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok', version: VERSION });
  });
  app.get('/readyz', (_request, response) => {
    const reasons = notReady(statuses());
    response.status(reasons.length === 0 ? 200 : 503).json({ ready: reasons.length === 0, reasons });
  });
  app.get('/', (_request, response) => {
    response.type('text').send('tailfin: /metrics /healthz /readyz\n');
  });
  app.use(failPlainly);
  return app;
}
