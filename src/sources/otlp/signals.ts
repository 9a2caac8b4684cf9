/**
 * The two signals that are taken, and the names of what is read of them: members of OTLP/JSON and field numbers of
 * opentelemetry-proto 1.x (trace.proto, logs.proto, common.proto, their collector services). Nothing else is looked at.
 */
export interface Signal {
  readonly name: 'traces' | 'logs';
  readonly json: { readonly groups: string; readonly scopes: string; readonly records: string };
  /** Member of the answer that counts what was rejected. */
  readonly rejected: 'rejectedSpans' | 'rejectedLogRecords';
}

export const TRACES: Signal = {
  name: 'traces',
  json: { groups: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' },
  rejected: 'rejectedSpans',
};
export const LOGS: Signal = {
  name: 'logs',
  json: { groups: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' },
  rejected: 'rejectedLogRecords',
};

/** Field numbers; the messages around the records have the same ones in both signals. */
export const REQUEST = { groups: 1 } as const;
export const GROUP = { resource: 1, scopes: 2 } as const;
export const SCOPE = { records: 2 } as const;
export const RESOURCE = { attributes: 1 } as const;
export const SPAN = {
  traceId: 1,
  spanId: 2,
  name: 5,
  kind: 6,
  start: 7,
  end: 8,
  attributes: 9,
  events: 11,
  status: 15,
} as const;
export const STATUS = { code: 3 } as const;
export const EVENT = { name: 2, attributes: 3 } as const;
export const LOG_RECORD = { body: 5 } as const;
export const KEY_VALUE = { key: 1, value: 2 } as const;
export const ANY_VALUE = { text: 1, bool: 2, int: 3, double: 4, array: 5, map: 6, bytes: 7 } as const;
/** Of ArrayValue and KeyValueList. */
export const VALUES = 1;

/** Of ExportTraceServiceResponse and ExportLogsServiceResponse, and of google.rpc.Status. */
export const RESPONSE = { partialSuccess: 1 } as const;
export const PARTIAL_SUCCESS = { rejected: 1, message: 2 } as const;
export const RPC_STATUS = { code: 1, message: 2 } as const;

export const CLIENT_KIND = 3;
export const STATUS_OK = 1;
export const STATUS_ERROR = 2;
