/**
 * The last handlers of a listener: a request that fails, or that nobody serves, gets a status and one line. express would answer with
 * a page of HTML, repeat the path in it, show a stack, and log it.
 */
import type { ErrorRequestHandler, RequestHandler } from 'express';

/** Behind the `get` of a path. */
export const onlyGet: RequestHandler = (_request, response) => {
  response.set('Allow', 'GET, HEAD').status(405).json({ error: 'only GET' });
};

/** Behind all paths. */
export const notFound: RequestHandler = (_request, response) => {
  response.status(404).json({ error: 'not found; / lists the paths' });
};

export const failPlainly: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  // A request that cannot be read (a broken path) carries its own status.
  const status = Number((error as { status?: unknown }).status);
  const isClients = status >= 400 && status < 500;
  response.status(isClients ? status : 500).json({ error: isClients ? 'bad request' : 'internal error' });
};
