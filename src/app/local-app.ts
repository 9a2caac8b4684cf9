/** What the loopback listener serves: pages and interfaces for this pod alone. Each part brings its own routes. */
import express from 'express';

export interface LocalPart {
  /** Paths, for the index at `/`. */
  readonly paths: readonly string[];
  readonly routes: express.Router;
}

export function createLocalApp(parts: readonly LocalPart[]): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  for (const { routes } of parts) app.use(routes);
  app.get('/', (_request, response) => {
    response.type('text').send(`tailfin: ${parts.flatMap(({ paths }) => paths).join(' ')}\n`);
  });
  return app;
}
