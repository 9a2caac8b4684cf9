/** The W3C `traceparent` of a request: whether it names a trace, and its two ids. Never an id from a header that is not valid. */

/** Version ff is forbidden, and so are ids of zeros; version 00 ends after its flags, later ones may go on. */
const TRACEPARENT =
  /^(?:00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}|(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?)$/;

export const isTraceparent = (text: string): boolean => TRACEPARENT.test(text);

/** Of a valid traceparent. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52);
