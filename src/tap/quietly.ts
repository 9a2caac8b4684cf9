/** Fail open: whatever goes wrong while recording, the host's call goes on. */
export function quietly<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}
