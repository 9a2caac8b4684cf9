/** A stateless request that does not name its version. */
import { isRequest, isStateless } from '../model/exchange.ts';
import { aboutExchange, detector } from './detector.ts';

export const missingMetaVersion = detector({
  rule: 'missing_meta_version',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a 2026-07-28 request is known to have no protocol version in `_meta`',
  means: 'The server cannot know the revision of the call and has to refuse it.',
  needs: '`meta_protocol_version` with an explicit null',
  source: 'MCP 2026-07-28, basic: per-request `_meta`',
  action: 'Fix the client that builds the request.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    if (exchange.fields.meta_protocol_version !== null || !isRequest(exchange) || !isStateless(exchange)) return;
    emit(
      aboutExchange('missing_meta_version', exchange, {
        status: exchange.fields.status ?? null,
        error_code: exchange.fields.error_code ?? null,
      }),
    );
  },
});
