/**
 * From the body of a log record to a line of the event schema, which is then decoded as every other one: a JSON text, or a map of
 * the same members. Records of other loggers are told by their lacking `v`; what is wrong with a line is not decided here.
 */
import type { Mapped } from './span-line.ts';
import { TOO_DEEP, type Tree } from './tree.ts';

const NAMES_V = /"v"\s*:/;

export function logLine(body: Tree | typeof TOO_DEEP): Mapped {
  if (body === TOO_DEEP) return { rejected: 'bad_field', field: 'body' };
  if (typeof body === 'string')
    return body.trimStart().startsWith('{') && NAMES_V.test(body) ? body : { rejected: 'not_event' };
  const isMap = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isMap && 'v' in body ? JSON.stringify(body) : { rejected: 'not_event' };
}
