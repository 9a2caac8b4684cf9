/** MSW as tests use it: its server in the process of the host, which lets every request pass. */
const { setupServer } = require('../beside/node_modules/msw/node');

globalThis.neighbour = 0;
const server = setupServer();
server.events.on('request:start', () => {
  globalThis.neighbour++;
});
server.listen({ onUnhandledRequest: 'bypass' });
