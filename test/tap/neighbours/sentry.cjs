/** Sentry for Node, and the wrapper of fetch in its core, which reads a clone of each response to its end. */
const {
  addFetchEndInstrumentationHandler,
  addFetchInstrumentationHandler,
} = require('../beside/node_modules/@sentry/core');
const Sentry = require('../beside/node_modules/@sentry/node');

globalThis.neighbour = 0;
Sentry.init({
  dsn: 'http://key@127.0.0.1:9/1',
  tracesSampleRate: 1,
  transport: () => ({ send: async () => ({}), flush: async () => true }),
});
addFetchInstrumentationHandler(({ endTimestamp }) => {
  if (endTimestamp === undefined) globalThis.neighbour++;
});
addFetchEndInstrumentationHandler(() => {});
