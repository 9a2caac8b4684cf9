/**
 * Reads the contract of a server from its own answer to `server/discover` or `initialize`: revision, session semantics, and
 * whether it promises a terminal message. The only place where the recorder looks into a result; nothing of it is kept but that.
 */
import { canonicalJson, digest } from './digest.ts';
import type { LineFields } from './event-log.ts';
import { isEventStream } from './response-facts.ts';

const MAX_BYTES = 65_536;
const COMPLETION_EXTENSION = 'dev.tailfin/stream-completion';

export const isDiscovery = (method: string | undefined): boolean =>
  method === 'server/discover' || method === 'initialize';

interface DiscoveryResult {
  protocolVersion?: unknown;
  capabilities?: { extensions?: Record<string, { terminal?: unknown } | undefined> };
}

export interface DiscoveryCapture {
  push(chunk: Uint8Array): void;
  /** Fields of the `discovery` line; undefined when the answer held no result. */
  read(head: LineFields, requestVersion: LineFields['protocol_version']): LineFields | undefined;
}

export function createDiscoveryCapture(mediaType: string | null): DiscoveryCapture {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(Uint8Array.from(chunk));
    },
    read(head, requestVersion) {
      const text = Buffer.concat(chunks).toString();
      const result = bytes <= MAX_BYTES ? resultOf(isEventStream(mediaType) ? lastData(text) : text) : undefined;
      if (result === undefined) return undefined;
      const { protocolVersion, capabilities } = result;
      const terminal = capabilities?.extensions?.[COMPLETION_EXTENSION]?.terminal;
      return {
        protocol_version: typeof protocolVersion === 'string' ? protocolVersion : requestVersion,
        sentinel: terminal === 'required' ? 'mandated' : 'optional',
        sessions: head.session_issued === true ? 'stateful' : 'stateless',
        digest: digest(canonicalJson(capabilities ?? {})),
      };
    },
  };
}

function resultOf(text: string): DiscoveryResult | undefined {
  try {
    return (JSON.parse(text) as { result?: DiscoveryResult }).result;
  } catch {
    return undefined;
  }
}

const lastData = (events: string): string => /.*^data: ?(.*)$/ms.exec(events)?.[1]?.split(/\r?\n/, 1)[0] ?? '';
