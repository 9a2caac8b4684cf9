/** A tap around a given fetch, with its lines in memory. Every line must be one that the sidecar takes. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { decode, isRejection } from '../../src/core/stages/decode.ts';
import { createDigester } from '../../src/tap/digest.ts';
import { createFetchState } from '../../src/tap/fetch/state.ts';
import { createTransportWatch } from '../../src/tap/fetch/transport.ts';
import { createFetchTap, type Fetch } from '../../src/tap/fetch/wrap-fetch.ts';
import type { Lines } from '../../src/tap/writer/lines.ts';

export type Line = Record<string, unknown> & { readonly type: string };

export interface Rig {
  readonly fetch: Fetch;
  lines(): Line[];
  of(type: string): Line[];
  text(): string;
  /** How often recording began. */
  starts(): number;
  unseen(): number;
}

export interface RigOptions {
  readonly fetch?: (...args: Parameters<Fetch>) => Promise<Response>;
  readonly lines?: Lines;
  readonly settle?: boolean;
}

export function checked(text: string): Line {
  const decoded = decode(text, { source: 'test', writer: 'test', host: 'test' }, 1, 0);
  assert.ok(!isRejection(decoded), `${JSON.stringify(decoded)}\n${text}`);
  return JSON.parse(text) as Line;
}

export function rig(options: RigOptions = {}): Rig {
  const texts: string[] = [];
  const digester = createDigester(randomBytes(32));
  let starts = 0;
  let unseen = 0;
  const lines: Lines = options.lines ?? {
    emit(type, fields) {
      texts.push(JSON.stringify({ v: 1, type, ts: Date.now(), ...fields }));
    },
  };
  const { wrap } = createFetchTap({
    start() {
      starts++;
      return createFetchState({ lines, digester, now: Date.now, newId: randomUUID });
    },
    transport: createTransportWatch({
      now: Date.now,
      prefix: 'test',
      onUnseen() {
        unseen++;
      },
    }),
    settle: options.settle ?? true,
  });
  const all = (): Line[] => texts.map(checked);
  return {
    fetch: wrap((options.fetch ?? globalThis.fetch) as Fetch),
    lines: all,
    of: (type) => all().filter((line) => line.type === type),
    text: () => texts.join('\n'),
    starts: () => starts,
    unseen: () => unseen,
  };
}

export function assertFields(line: Line | undefined, expected: object, what: string): void {
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(line?.[name], value, `${what} ${name}`);
}
