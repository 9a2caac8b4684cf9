/**
 * The tap of this process or worker thread: one, however many copies of this code are loaded. It puts the parts together and starts
 * them at the first MCP exchange; until then there is no file and no key.
 */
import { randomBytes } from 'node:crypto';
import { createDigester } from './digest.ts';
import { createFetchState, type FetchState } from './fetch/state.ts';
import { createTransportWatch } from './fetch/transport.ts';
import { createFetchTap, type Fetch } from './fetch/wrap-fetch.ts';
import { loadKey } from './key.ts';
import { sayOnce } from './one-line.ts';
import type { TapSettings } from './settings.ts';
import { createWriter, type Writer } from './writer/writer.ts';

export interface TapStats {
  /** Lines written or waiting, and events lost. */
  readonly events: number;
  readonly dropped: number;
  /** MCP requests made by a fetch that the tap does not see: an npm copy of undici. */
  readonly unseen: number;
  /** Requests forgotten while their answer might still have come on another stream. */
  readonly forgotten: number;
}

export interface ProcessTap {
  wrap(fetch: Fetch): Fetch;
  stats(): TapStats;
  /** Writes what is left. For tests and hosts that end without an `exit` event. */
  close(): void;
}

const PLACE = Symbol.for('tailfin.tap');
const UNSEEN =
  'MCP requests go through a copy of undici, whose fetch is not recorded: wrap it with wrapFetch of tailfin/tap (docs/tap.md)';

const ID_BYTES = 9;

// As it is when the tap is loaded: a test of the host may set its own clock later.
const now = Date.now;

/** The tap that this process has, or a new one. */
export function processTap(settings: () => TapSettings): ProcessTap {
  const place = globalThis as { [PLACE]?: ProcessTap };
  if (place[PLACE] === undefined) {
    const value = createProcessTap(settings());
    Object.defineProperty(globalThis, PLACE, { value, configurable: true });
  }
  return place[PLACE] as ProcessTap;
}

function createProcessTap({ dir, host, keyFile, quota, settle }: TapSettings): ProcessTap {
  let writer: Writer | undefined;
  let state: FetchState | undefined;
  let unseen = 0;
  // Unique within a host, whatever number of processes and threads it has; short, because every line carries some.
  const random = randomBytes(ID_BYTES).toString('base64url');
  let ids = 0;
  const newId = (): string => `${random}-${(++ids).toString(36)}`;
  const start = (): FetchState => {
    const digester = createDigester(loadKey({ file: keyFile, complain: sayOnce }));
    const lines = createWriter({ folder: dir, host, keyId: digester.keyId, quotaBytes: quota });
    writer = lines;
    state = createFetchState({ lines, digester, now, newId });
    return state;
  };
  const transport = createTransportWatch({
    now,
    prefix: random.slice(0, 6),
    onUnseen() {
      unseen++;
      sayOnce(UNSEEN);
    },
  });
  const { wrap } = createFetchTap({ start, transport, settle });
  return {
    wrap,
    stats() {
      const { events = 0, dropped = 0 } = writer?.stats() ?? {};
      return { events, dropped, unseen, forgotten: state?.pending.evicted ?? 0 };
    },
    close: () => writer?.close(),
  };
}
