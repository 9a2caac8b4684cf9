/** The bearer token of the HTTP source: how its file is read, and a comparison that takes as long for a near miss as for a far one. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { kindOf } from './file-identity.ts';
import { reasonOf } from './system-error.ts';

const MAX_BYTES = 4096;

/** Returns what is wrong with the file, without its content, or the token. */
export function readTokenFile(path: string): { readonly token: string } | { readonly fault: string } {
  const buffer = Buffer.alloc(MAX_BYTES + 1);
  let length: number;
  try {
    // O_NONBLOCK: a FIFO would hold up the start until somebody writes. Links are followed: so secrets are mounted in a pod.
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return { fault: `cannot read ${path}: it is ${kindOf(stats)}, not a regular file` };
      length = readSync(fd, buffer, 0, buffer.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return { fault: `cannot read ${path}: ${reasonOf(error)}` };
  }
  if (length > MAX_BYTES) return { fault: `${path} is longer than ${MAX_BYTES} bytes` };
  const token = buffer.toString('latin1', 0, length).trim();
  if (token === '') return { fault: `${path} is empty` };
  if (!/^[\x21-\x7e]+$/.test(token)) return { fault: `${path} must hold one token: printable ASCII without spaces` };
  return { token };
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'latin1').digest();

/** Tells whether an `Authorization` header carries the token; without a token everybody may. */
export function tokenCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  if (token === undefined) return () => true;
  const expected = digest(token);
  return (authorization = '') => {
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    // Digests are of one length whatever was sent.
    return timingSafeEqual(digest(given), expected);
  };
}
