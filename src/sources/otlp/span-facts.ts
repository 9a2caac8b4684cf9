/** What is read of a span, whichever encoding it came in. */
import type { Attributes, EXCEPTION_ATTRIBUTES, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES } from './attributes.ts';

export interface SpanFacts {
  /** Lower-case hex; empty where there is none of the right length. */
  traceId: string;
  spanId: string;
  name: string;
  kind: number;
  /** Unix ms; 0: not set. */
  start: number;
  end: number;
  status: number;
  attributes: Attributes<typeof SPAN_ATTRIBUTES>;
  /** `exception.type` of the last exception. */
  exception: Attributes<typeof EXCEPTION_ATTRIBUTES>['exception.type'];
}

export type ResourceFacts = Attributes<typeof RESOURCE_ATTRIBUTES>;

/** Without attributes of MCP a span is somebody else's, and nothing else of it is read. */
export const emptySpan = (): SpanFacts => ({
  traceId: '',
  spanId: '',
  name: '',
  kind: 0,
  start: 0,
  end: 0,
  status: 0,
  attributes: {},
  exception: undefined,
});

export const NO_RESOURCE: ResourceFacts = {};
export const EXCEPTION_EVENT = 'exception';
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;
