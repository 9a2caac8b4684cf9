/**
 * The digest key of a process: random, or from a file so that pods can be compared. Threads share it through the environment data
 * of worker_threads, which every worker inherits from the thread that starts it. The key never leaves the process.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { codeOf } from './writer/failure.ts';

const SHARED = 'tailfin.tap.key';
const RANDOM_BYTES = 32;
/** Less than 128 bits can be guessed. */
export const MIN_KEY_BYTES = 16;
const TOO_SHORT = `shorter than ${MIN_KEY_BYTES} bytes`;
const MAX_KEY_BYTES = 4096;

export interface KeyOptions {
  /** Path of a key file; undefined: a random key. */
  readonly file?: string | undefined;
  readonly complain: (text: string) => void;
}

export function loadKey({ file, complain }: KeyOptions): Uint8Array {
  const shared = getEnvironmentData(SHARED) as unknown;
  if (shared instanceof Uint8Array && shared.length >= MIN_KEY_BYTES) return shared;
  const key = (file ? readKey(file, complain) : undefined) ?? new Uint8Array(randomBytes(RANDOM_BYTES));
  setEnvironmentData(SHARED, key as never);
  return key;
}

function readKey(file: string, complain: KeyOptions['complain']): Uint8Array | undefined {
  const instead = 'digests use a random key';
  try {
    return readKeyFile(file);
  } catch (error) {
    const why = codeOf(error) === TOO_SHORT ? `the key in ${file} is ${TOO_SHORT}` : undefined;
    complain(`${why ?? `cannot read the key file ${file} (${codeOf(error)})`}: ${instead}`);
  }
  return undefined;
}

/** @throws where it cannot be read, or is too short; `code` says why. */
export function readKeyFile(file: string): Uint8Array {
  const bytes = readSmall(file);
  // An editor's or `echo`'s line end is no part of the key.
  const key = new Uint8Array(Buffer.from(bytes.toString('latin1').replace(/[\r\n]+$/, ''), 'latin1'));
  if (key.length < MIN_KEY_BYTES) throw Object.assign(new Error(TOO_SHORT), { code: TOO_SHORT });
  return key;
}

function readSmall(file: string): Buffer {
  // A FIFO or a device must not hold the host up.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw Object.assign(new Error(), { code: 'no regular file' });
    const bytes = Buffer.alloc(MAX_KEY_BYTES);
    return bytes.subarray(0, readSync(fd, bytes, 0, MAX_KEY_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}
