/** OpenTelemetry's instrumentation of undici, which sees requests through diagnostics_channel. */
const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');

globalThis.neighbour = 0;
const instrumentation = new UndiciInstrumentation({
  requireParentforSpans: false,
  requestHook() {
    globalThis.neighbour++;
  },
});
instrumentation.enable();
