/** A tool that answers its own failures as JSON-RPC errors: hosts show a protocol failure instead of handing it to the model. */

import { isStateless } from '../model/exchange.ts';
import { toolOf } from '../model/exchange-names.ts';
import { LIMITS } from '../model/limits.ts';
import { CALL } from '../protocol/methods.ts';
import { aboutExchange, detector } from './detector.ts';

/** A tool that goes on working is set again so often, which keeps it from the oldest, that a full store gives up. */
const RENEW_MS = 60_000;
const isHandleError = (code: number): boolean => code === -32602 || (code <= -32000 && code >= -32019);

export const handleErrorAsJsonRpcError = detector({
  rule: 'handle_error_as_json_rpc_error',
  on: ['verdict'],
  fires:
    'on 2026-07-28 a tools/call was answered 200 with -32602 or -32000 to -32019, for a tool that has succeeded before on that server',
  means:
    'Probably a stale or unknown handle in the arguments: the server should say so in a result with `isError`, which a model can act on.',
  needs: '`target`, `error_code`',
  source: 'MCP 2026-07-28, server/tools: error handling',
  action:
    'Return tool failures as results with `isError: true`. How sure: the tool is known to work, the reason of this error is not seen.',
  create({ memory }) {
    const worked = memory<{ readonly ts: number }>('working_tools', LIMITS.workingTools);
    return (fact, emit) => {
      const { exchange } = fact;
      const { method, target, error_code: code, status } = exchange.fields;
      if (method !== CALL || typeof target !== 'string' || !exchange.terminal) return;
      const { key } = toolOf(exchange);
      const known = worked.get(key);
      if (!exchange.errorSeen) {
        const { is_error, result_type } = exchange.fields;
        if (is_error === true || result_type === 'input_required') return;
        if (known === undefined || exchange.closeTs - known.ts > RENEW_MS) worked.set(key, { ts: exchange.closeTs });
        return;
      }
      if (status !== 200 || typeof code !== 'number' || !isHandleError(code) || !isStateless(exchange)) return;
      if (known === undefined) return;
      emit(aboutExchange('handle_error_as_json_rpc_error', exchange, { error_code: code, certainty: 'likely' }));
    };
  },
});
