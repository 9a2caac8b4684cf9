/**
 * What the loopback listener serves: pages and interfaces for this pod alone. Each part brings its own routes; what guards all of them
 * is here: the host they are asked by, no sharing with other sites (no CORS header is ever sent), nothing kept by a cache.
 */
import express from 'express';
import { failPlainly, notFound, onlyGet } from './fail-plainly.ts';
import { requireSameHost } from './same-host.ts';

export interface LocalPart {
  /** Paths, for the index at `/`. */
  readonly paths: readonly string[];
  readonly routes: express.Router;
}

/** `listenHost`: the configured address, by which it may be called beside the names of the loopback. */
export function createLocalApp(parts: readonly LocalPart[], listenHost: string): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(requireSameHost(listenHost), (_request, response, next) => {
    response.set({
      'Cache-Control': 'no-store',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    next();
  });
  for (const { routes } of parts) app.use(routes);
  app.get('/', (_request, response) => {
    response.type('text').send(`tailfin: ${parts.flatMap(({ paths }) => paths).join(' ')}\n`);
  });
  app.all('/', onlyGet);
  app.use(notFound, failPlainly);
  return app;
}
