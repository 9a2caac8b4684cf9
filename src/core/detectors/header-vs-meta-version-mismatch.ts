/** One request that names two versions. */
import { isRequest } from '../model/exchange.ts';
import { isStatelessRevision, versionLabel } from '../protocol/revisions.ts';
import { aboutExchange, detector } from './detector.ts';

export const headerVsMetaVersionMismatch = detector({
  rule: 'header_vs_meta_version_mismatch',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'the version header and the version in `_meta` of a request differ, and one of them is 2026-07-28 or later',
  means: 'A gateway that routes by header and a server that reads the body disagree about the rules of the call.',
  needs: '`protocol_version` and `meta_protocol_version`',
  source: 'MCP 2026-07-28, basic/transports: header and `_meta` must agree (-32020)',
  action: 'Find who rewrites the header or the body: mostly a gateway between them.',
  create: () => (fact, emit) => {
    const { exchange } = fact;
    const { protocol_version: header, meta_protocol_version: meta } = exchange.fields;
    if (typeof header !== 'string' || typeof meta !== 'string' || header === meta || !isRequest(exchange)) return;
    if (!isStatelessRevision(header, null) && !isStatelessRevision(meta, null)) return;
    const named = { header: versionLabel(header, null), meta: versionLabel(meta, null) };
    emit(aboutExchange('header_vs_meta_version_mismatch', exchange, named));
  },
});
