/**
 * HMAC-SHA256 of short texts, in plain JavaScript: the very digests of node:crypto (tested against it), without a native object per
 * text, whose making and collecting costs a host several times the hashing. It decides nothing about keys or formats.
 */
import { createHash, createHmac } from 'node:crypto';

const makeHash = createHash;
const makeHmac = createHmac;

const BLOCK = 64;
/** Longer texts are hashed natively: by then the work outweighs the object. */
const MAX_CHARS = 1024;
const MAX_UTF8 = 3;
const ROUNDS = 64;

const firstPrimes = (count: number): number[] => {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
};
/** The first 32 bits of the fraction, as FIPS 180-4 defines the constants. */
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0;
const PRIMES = firstPrimes(ROUNDS);
const K = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

const schedule = new Int32Array(ROUNDS);

/** Adds one block to the state. */
function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  const w = schedule;
  for (let t = 0, i = at; t < 16; t++, i += 4)
    w[t] =
      ((bytes[i] as number) << 24) |
      ((bytes[i + 1] as number) << 16) |
      ((bytes[i + 2] as number) << 8) |
      (bytes[i + 3] as number);
  for (let t = 16; t < ROUNDS; t++) {
    const x = w[t - 15] as number;
    const y = w[t - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = ((w[t - 16] as number) + s0 + (w[t - 7] as number) + s1) | 0;
  }
  let [a, b, c, d] = [state[0] as number, state[1] as number, state[2] as number, state[3] as number];
  let [e, f, g, h] = [state[4] as number, state[5] as number, state[6] as number, state[7] as number];
  for (let t = 0; t < ROUNDS; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (K[t] as number) + (w[t] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** Pads `length` bytes behind the one block that the state has taken, and adds them all. `bytes` has room for two blocks more. */
function finish(state: Int32Array, bytes: Buffer, length: number): void {
  const end = (length + 9 + BLOCK - 1) & -BLOCK;
  bytes.fill(0, length, end);
  bytes[length] = 0x80;
  bytes.writeUInt32BE((BLOCK + length) * 8, end - 4);
  for (let at = 0; at < end; at += BLOCK) compress(state, bytes, at);
}

/** The state after the block that holds the key. */
function begun(key: Uint8Array, pad: number): Int32Array {
  const block = new Uint8Array(BLOCK).fill(pad);
  for (const [i, byte] of key.entries()) block[i]! ^= byte;
  const state = Int32Array.from(START);
  compress(state, block, 0);
  return state;
}

/** HMAC-SHA256 of texts under one key. The result is overwritten by the next call. */
export function createKeyedHash(key: Uint8Array): (text: string) => Buffer {
  const short = key.length > BLOCK ? makeHash('sha256').update(key).digest() : key;
  const inner = begun(short, 0x36);
  const outer = begun(short, 0x5c);
  const state = new Int32Array(START.length);
  const bytes = Buffer.alloc(MAX_CHARS * MAX_UTF8 + 2 * BLOCK);
  const out = Buffer.alloc(2 * BLOCK);
  const sum = out.subarray(0, 32);
  const put = (): void => {
    for (let i = 0; i < state.length; i++) out.writeInt32BE(state[i] as number, 4 * i);
  };
  return (text) => {
    if (text.length > MAX_CHARS) return makeHmac('sha256', key).update(text).digest();
    state.set(inner);
    finish(state, bytes, bytes.write(text));
    put();
    state.set(outer);
    finish(state, out, sum.length);
    put();
    return sum;
  };
}
