/** The trace id of a W3C traceparent: the one part of it that leaves the tap. Anything that is not well formed has none. */

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;

/** 32 hex digits in lower case, or null. */
export function traceIdOf(traceparent: string | null | undefined): string | null {
  if (traceparent === undefined || traceparent === null) return null;
  const [, version, traceId, parentId, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || parentId === undefined || version === 'ff') return null;
  // Version 00 ends after the flags; later ones may go on.
  if (version === '00' && more !== undefined) return null;
  return ZEROS.test(traceId) || ZEROS.test(parentId) ? null : traceId;
}
