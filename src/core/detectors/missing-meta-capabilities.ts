/** A stateless request that does not state what its client can do. */
import { isRequest, isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const missingMetaCapabilities = detector({
  rule: 'missing_meta_capabilities',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a 2026-07-28 request is known to have no client capabilities in `_meta`',
  means: 'The server cannot know whether it may ask for input, and may refuse the call.',
  needs: '`meta_capabilities` with an explicit null',
  source: 'MCP 2026-07-28, basic: per-request `_meta`',
  action: 'Fix the client that builds the request.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    const { meta_capabilities: stated } = exchange.fields;
    if ((stated !== null && stated !== false) || !isRequest(exchange) || !isStateless(exchange)) return;
    emit(
      aboutExchange('missing_meta_capabilities', exchange, {
        status: exchange.fields.status ?? null,
        error_code: exchange.fields.error_code ?? null,
      }),
    );
  },
});
