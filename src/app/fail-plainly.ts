/** The last handler of a listener: a request that fails gets a status and one line. express would answer with a stack and log it. */
import type { ErrorRequestHandler } from 'express';

export const failPlainly: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  // A request that cannot be read (a broken path) carries its own status.
  const status = Number((error as { status?: unknown }).status);
  const isClients = status >= 400 && status < 500;
  response
    .status(isClients ? status : 500)
    .type('text')
    .send(isClients ? 'bad request\n' : 'internal error\n');
};
