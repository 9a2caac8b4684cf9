/**
 * Wraps fetch as dd-trace does (the package itself has a test of its own, beside.test.ts): makes a Request
 * of every call, adds headers to it, and hands that on.
 */
const upstream = globalThis.fetch;

globalThis.neighbour = 0;
globalThis.fetch = function fetch(input, init) {
  globalThis.neighbour++;
  const request = input instanceof Request && init === undefined ? input : new Request(input, init);
  request.headers.set('x-datadog-trace-id', '1');
  return upstream.call(this, request);
};
