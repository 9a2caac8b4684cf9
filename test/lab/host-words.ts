/** Reads what the host printed of its calls, and says which word a `settle` line has to have for it. */

interface SettledCall {
  readonly call: string;
  readonly result?: 'ok' | 'tool_error';
  readonly error?: { readonly class?: string; readonly code?: string | number; readonly cause?: string };
}

/** How the calls of the row's tool ended, in the order in which they did. `host`: JSON, `null` when nothing came. */
export function callsOf(host: string, tool: string): readonly SettledCall[] {
  const seen = JSON.parse(host) as { settled?: readonly SettledCall[] } | null;
  return (seen?.settled ?? []).filter(({ call }) => call === tool);
}

export const callText = ({ result, error }: SettledCall): string =>
  result ?? [error?.class, error?.code ?? error?.cause].filter((word) => word !== undefined).join(' ');

/** Numbers that the older SDK gives to its own failures; servers use the first one for other things, in no row of the lab. */
const OWN_TIMEOUT = -32001;
const OWN_CLOSED = -32000;

/** In the lab a caller is never told that the call was cancelled: closing the client is an error to it. */
export function receivedWord({ result, error }: SettledCall): string {
  if (result !== undefined) return result;
  const { class: name, code } = error ?? {};
  if (code === 'REQUEST_TIMEOUT' || (name === 'McpError' && code === OWN_TIMEOUT)) return 'timeout';
  if (name === 'McpError' && code === OWN_CLOSED) return 'error';
  return name === 'McpError' || name === 'ProtocolError' || name === 'UnsupportedProtocolVersionError'
    ? 'rpc_error'
    : 'error';
}
