/** prom-client's default metrics one by one, which its own types do not name. */
declare module 'prom-client/lib/metrics/*.js' {
  import type { Registry } from 'prom-client';

  const add: (registry: Registry, config: { readonly eventLoopMonitoringPrecision?: number }) => void;
  // biome-ignore lint/style/noDefaultExport: that is how they are exported.
  export default add;
}
