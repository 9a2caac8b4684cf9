/** Datadog's tracer, which replaces globalThis.fetch and hands a Request on. There is no agent: it sends nothing. */
Object.assign(process.env, {
  DD_TRACE_STARTUP_LOGS: 'false',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
});
const tracer = require('../beside/node_modules/dd-trace').init({ flushInterval: 0 });

globalThis.neighbour = 0;
tracer.use('fetch', {
  hooks: {
    request() {
      globalThis.neighbour++;
    },
  },
});
