/**
 * What the pipeline states. Measures, reports and (later) evidence are functions of these and of nothing else. A fact is valid while
 * it is delivered: exchanges, events and attempts are used again, so whoever keeps something copies it.
 */
import type { RuleName } from '../detectors/rules.ts';
import type { Version } from '../protocol/revisions.ts';
import type { Origin, Place, WireEvent } from './event.ts';
import type { Contract, Exchange } from './exchange.ts';
import type { Attempt, OperationFact, ParseOf } from './operation.ts';
import type { StreamKind, Verdict } from './verdict.ts';

export interface VerdictFact {
  readonly is: 'verdict';
  readonly exchange: Exchange;
  readonly kind: StreamKind;
  /** null: a kind without a verdict; its status may mean something all the same. */
  readonly verdict: Verdict | null;
}

export interface ParseFact {
  readonly is: 'parse';
  readonly server: string;
  readonly of: ParseOf;
  readonly result: 'ok' | 'cut' | 'malformed';
  /** Bytes that the parser was given. */
  readonly bytes: number;
  /** expected_bytes or Content-Length where known, else the bytes given. */
  readonly size: number;
  /** The host repaired the payload before it used it. */
  readonly repaired: boolean;
  readonly exchange: string | null;
  /** W3C traceparent as it was written, of the line or else of its exchange. */
  readonly trace: string | null;
  readonly ts: number;
  readonly origin: Origin;
  readonly line: number;
}

/** One sample of the length trend; `length` null: a failure whose full length never became known. */
export interface TrendFact {
  readonly is: 'trend';
  readonly server: string;
  readonly of: ParseOf;
  readonly failed: boolean;
  readonly length: number | null;
  /** Bytes that arrived: a lower bound of the full length of a failure. */
  readonly received: number;
  readonly exchange: string | null;
  readonly trace: string | null;
  readonly ts: number;
  readonly origin: Origin | null;
  readonly line: number;
}

export interface ExpiredFact {
  readonly is: 'expired';
  readonly exchange: Exchange;
  readonly reason: 'ttl' | 'writer_gone' | 'evicted';
}

/** A row-13 close, had the server been held to a terminal message. */
export interface WhatIfFact {
  readonly is: 'what_if';
  readonly server: string;
  readonly result: 'would_reject_complete' | 'would_resolve';
  readonly bytes: number;
}

export interface ContractFact {
  readonly is: 'contract';
  readonly server: string;
  readonly version: Version;
  readonly contract: Contract | undefined;
}

export interface FindingFact {
  readonly is: 'finding';
  readonly rule: RuleName;
  readonly server: string;
  /** The exchange that shows it best; null for a finding about many. */
  readonly exchange: string | null;
  /** W3C traceparent of that exchange, as it was written. */
  readonly trace: string | null;
  readonly ts: number;
  /** The line that shows it; null where none is known. */
  readonly at: Place | null;
  /** What decided: closed words and numbers only. */
  readonly evidence: Readonly<Record<string, string | number | boolean | null>>;
}

/** A server and revision were seen: closed label sets start at 0. null: on a line that tells no revision. */
export interface SeenFact {
  readonly is: 'seen';
  readonly server: string;
  readonly version: Version | null;
}

export interface SettleFact {
  readonly is: 'settle';
  readonly event: WireEvent;
  readonly server: string;
  /** Key of its transport instance (model/exchange.ts, clientKey). */
  readonly client: string;
  /** The attempt it belongs to, while that takes lines. */
  readonly attempt: Attempt | null;
}

/** A settle line came, whatever it will be joined to and when: its client reports what callers are told. */
export interface ReportsFact {
  readonly is: 'reports';
  readonly client: string;
  readonly ts: number;
}

/** A stream ended without its answer and waits for a resume: its verdict comes up to a minute later. */
export interface SuspendedFact {
  readonly is: 'suspended';
  readonly exchange: Exchange;
}

/** A `client` line. */
export interface ClientFact {
  readonly is: 'client';
  readonly event: WireEvent;
  readonly server: string;
  readonly client: string;
}

/** A JSON-RPC notification came on a stream that is still open and no response. */
export interface NotifiedFact {
  readonly is: 'notified';
  readonly server: string;
  readonly ts: number;
}

export type Fact =
  | VerdictFact
  | OperationFact
  | ParseFact
  | TrendFact
  | ExpiredFact
  | WhatIfFact
  | ContractFact
  | SeenFact
  | SettleFact
  | ReportsFact
  | SuspendedFact
  | ClientFact
  | NotifiedFact
  | FindingFact;
