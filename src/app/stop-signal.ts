/** SIGTERM and SIGINT as an AbortSignal. A second one ends the process at once: somebody means it. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => {
      controller.abort(name);
      process.once(name, () => process.kill(process.pid, 'SIGKILL'));
    });
  }
  return controller.signal;
}
