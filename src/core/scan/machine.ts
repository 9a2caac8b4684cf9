/**
 * The program of the scanner (assembly/) with a memory of its own: its tables, room for one line, and room that sources read into. It is
 * made once, since a memory that grows takes the bytes away from whoever holds them; what nobody has touched of it costs nothing.
 */
import { FREE, PAST_END, PROGRAM } from './program.ts';

/** Of the standard, as far as it is used: the core has the types of no host. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly:
  | {
      Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
      Module: new (bytes: Uint8Array) => object;
      Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { readonly exports: unknown };
    }
  | undefined;
declare const atob: (base64: string) => string;

export interface Program {
  /** Before the first line. The key stands at `at`. */
  addKey(at: number, length: number, slot: number, kind: number, types: number): void;
  /** The line in [start, end): how many changes stand in each list, 8 bits each, or -1 (assembly/index.ts). */
  scan(start: number, end: number, maxIdBytes: number): number;
  /** Nothing stands in any slot. */
  reset(): void;
  /** The text at this place is not taken by its field. */
  forget(place: number): void;
}

export interface Machine {
  readonly program: Program;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly words: Int32Array;
  /** A part of the memory to read into, with `PAST_END` behind it; undefined: there is none left. */
  room(bytes: number): Uint8Array | undefined;
}

/** Where a line is copied to that stands elsewhere. Longer ones than this are no ordinary lines. */
export const LINE_AT = FREE;
export const MAX_LINE_BYTES = 65_536;
const ROOMS_AT = LINE_AT + MAX_LINE_BYTES + PAST_END;
/** A few sources, each with its buffer. */
const ROOMS_BYTES = 2 * 1024 * 1024;
const PAGE_BYTES = 65_536;
const PAGES = Math.ceil((ROOMS_AT + ROOMS_BYTES) / PAGE_BYTES);

let compiled: object | undefined;

/** Null where the host has no WebAssembly with 128-bit words, or where words have their highest byte first. */
export function createMachine(): Machine | null {
  if (typeof WebAssembly === 'undefined' || new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) return null;
  let memory: WasmMemory;
  let program: Program;
  try {
    compiled ??= new WebAssembly.Module(Uint8Array.from(atob(PROGRAM), (char) => char.charCodeAt(0)));
    memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
    program = new WebAssembly.Instance(compiled, { env: { memory } }).exports as Program;
  } catch {
    return null;
  }
  const { buffer } = memory;
  let free = ROOMS_AT;
  return {
    program,
    bytes: new Uint8Array(buffer),
    view: new DataView(buffer),
    words: new Int32Array(buffer),
    room(bytes) {
      const start = free;
      if (start + bytes + PAST_END > buffer.byteLength) return undefined;
      free += Math.ceil((bytes + PAST_END) / 16) * 16;
      return new Uint8Array(buffer, start, bytes);
    },
  };
}
