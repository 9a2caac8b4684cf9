/** A decoded line: what the reader knows of it, and the checked fields as they stood on it. */
import type { EventType, FIELDS, FieldName } from './fields.ts';

type ValueOf<F> = F extends { is: readonly (infer W)[] }
  ? W
  : F extends { is: 'bool' }
    ? boolean
    : F extends { is: 'count' | 'int' | 'ms' | 'time' }
      ? number
      : F extends { is: 'object'; of: infer O }
        ? { readonly [K in keyof O]?: ValueOf<O[K]> | null }
        : string;

/** undefined: unknown. null: known to be absent (design section 3). */
export type EventFields = { [K in FieldName]?: ValueOf<(typeof FIELDS)[K]> | null | undefined };

/** Where a line was read, for messages and evidence. `source` is a configured name, never a path. */
export interface Origin {
  readonly source: string;
  /** Default writer of lines that name none: one per file or connection. */
  readonly writer: string;
  /** Default host of lines that name none. */
  readonly host: string;
  /** Path of the file, for messages and evidence, never for a label. Unset where there is none. */
  readonly file?: string;
  /** Its lines may come twice: one whose (writer, seq) was seen is dropped as `duplicate`. */
  readonly mayRepeat?: boolean;
}

/** One line of the input, to point at. */
export interface Place {
  readonly origin: Origin;
  readonly line: number;
}

export interface WireEvent {
  readonly type: EventType;
  /** Unix milliseconds. */
  readonly ts: number;
  readonly origin: Origin;
  /** 1-based line number and byte offset in the source. */
  readonly line: number;
  readonly offset: number;
  /** The declared fields (model/record.ts). */
  readonly fields: EventFields;
}

/** Why a line was not accepted. Closed set: it is the `reason` label of `tailfin_events_rejected_total`. */
export const REJECTIONS = [
  'not_json',
  'not_object',
  'bad_version',
  'missing_field',
  'unknown_type',
  'bad_field',
  'future_ts',
  'oversize',
  'incomplete',
  'duplicate',
  // of OTLP alone
  'not_protobuf',
  'not_mcp',
  'not_client',
  'not_event',
] as const;
export type RejectionReason = (typeof REJECTIONS)[number];
/** Those of which nobody has to hear: a line that came twice, telemetry about other things than MCP clients. */
export const NO_FAULTS = [
  'duplicate',
  'not_mcp',
  'not_client',
  'not_event',
] as const satisfies readonly RejectionReason[];

export interface Rejection {
  readonly rejected: RejectionReason;
  /** The field at fault, where there is one. */
  readonly field?: string;
  /** Its place in the sequence of its writer, where the line tells: it did arrive. */
  readonly seq?: number;
  readonly writer?: string;
  readonly host?: string;
}
