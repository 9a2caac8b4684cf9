/** What the scrape listener serves: /metrics, /healthz, /readyz. It shows counts and states only, so it may listen on all interfaces. */
import express from 'express';
import { chooseFormat, type Format } from '../exporters/negotiate.ts';
import { CONTENT_TYPES } from '../exporters/prometheus.ts';
import type { SourceStatus } from '../sources/source.ts';
import type { Scrape } from './exposition.ts';
import { failPlainly, notFound, onlyGet } from './fail-plainly.ts';
import { VERSION } from './version.ts';

export interface MetricsAppOptions {
  readonly metrics: (format: Format) => Promise<Scrape>;
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

export function createMetricsApp({ metrics, statuses }: MetricsAppOptions): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/metrics', async (request, response) => {
    const format = chooseFormat(request.headers.accept);
    const scrape = await metrics(format);
    if ('notYet' in scrape) {
      response.status(503).set('Retry-After', '1').type('text').send(`${scrape.notYet}\n`);
      return;
    }
    if (request.method === 'GET') response.once('finish', scrape.answered);
    // A Buffer: for a string express would write the parameters of the type in an order of its own.
    response.set('Content-Type', CONTENT_TYPES[format]).vary('Accept').send(Buffer.from(scrape.text));
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
  app.all(['/metrics', '/healthz', '/readyz', '/'], onlyGet);
  app.use(notFound, failPlainly);
  return app;
}
