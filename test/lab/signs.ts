/**
 * The notes of lab-expected.tsv as checks: which findings a row must have, no others, and which numbers. Written down by hand, so
 * that they do not share the sidecar's code.
 */
import type { ClientName } from './clients.ts';
import { revisionOf } from './clients.ts';
import { expectedOf } from './expected.ts';
import type { Row } from './rows.ts';

export interface NumberSign {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type NoteNumber = Omit<NumberSign, 'value'> & { readonly value?: number };

interface Note {
  readonly rows: readonly string[];
  readonly client?: ClientName;
  readonly on?: '2025-11-25' | '2026-07-28';
  readonly findings?: readonly string[];
  readonly number?: NoteNumber;
}

const parsed = (result: string): NoteNumber => ({
  metric: 'tailfin_parse_attempts_total',
  labels: { of: 'message', result },
});
const failed = (stage: string, by: string, request?: string, value = 1): NoteNumber => ({
  metric: 'tailfin_exchange_failures_total',
  labels: { stage, by, ...(request === undefined ? {} : { request }) },
  value,
});
const meaning = (status: number, word: string): NoteNumber => ({
  metric: 'tailfin_status_meaning_total',
  labels: { status: String(status), meaning: word },
});
const RESUMED = ['h2', 'h2r', 'h3', 'h3r', 'h2-500'];

const NOTES: readonly Note[] = [
  { rows: ['c', 'c2', 'c3', 'c5', 'c7', 'd', 'e', 'f', 'k2', 'p-d', 'p-f'], number: parsed('cut') },
  { rows: ['c4'], findings: ['id_mismatch', 'uncertain_write'] },
  { rows: ['e2'], findings: ['discarded_response', 'late_error_after_terminal'] },
  { rows: ['g2'], findings: ['late_error_after_terminal'] },
  { rows: ['h2', 'h3', 'h2-500'], findings: ['resume_failed'] },
  {
    rows: RESUMED,
    on: '2026-07-28',
    findings: ['event_id_on_2026_07_28', 'last_event_id_on_2026_07_28', 'get_or_delete_on_2026_07_28'],
  },
  // The error was the answer; this client resumes all the same, and is refused.
  { rows: ['h4'], client: 'S1', findings: ['needless_reconnect', 'resume_failed'] },
  { rows: ['h4'], on: '2026-07-28', findings: ['event_id_on_2026_07_28'] },
  { rows: ['l-refused', 'l-dns'], number: failed('connect', 'peer', 'not_sent') },
  { rows: ['m'], number: failed('before_headers', 'client', 'sent') },
  { rows: ['m2'], number: failed('between_events', 'client', 'sent') },
  { rows: ['m3', 'm4', 'm5'], number: failed('before_headers', 'peer', 'sent') },
  { rows: ["p'"], number: failed('before_headers', 'client', 'sent', 3) },
  { rows: ['n', 'n-session'], number: meaning(404, 'route_missing') },
  { rows: ['n2'], on: '2026-07-28', number: meaning(404, 'method_not_found') },
  { rows: ['n2'], on: '2025-11-25', number: meaning(404, 'method_not_found_nonconformant') },
  { rows: ['n3'], number: meaning(404, 'session_expired') },
  { rows: ['o'], on: '2026-07-28', number: meaning(400, 'header_mismatch') },
  { rows: ['o'], on: '2025-11-25', number: meaning(400, 'bad_request') },
  { rows: ['o2'], on: '2026-07-28', number: meaning(400, 'unsupported_version') },
  { rows: ['o2'], on: '2025-11-25', number: meaning(400, 'bad_request') },
  { rows: ['o3'], number: meaning(400, 'bad_request') },
  { rows: ['o4'], findings: ['uncertain_write'], number: meaning(502, 'upstream_error') },
  { rows: ['q'], findings: ['uncertain_write'] },
  { rows: ['q2'], findings: ['never_answered', 'uncertain_write'], number: meaning(202, 'request_answered_202') },
  { rows: ['q4'], number: meaning(200, 'rpc_error') },
];

export interface Signs {
  readonly findings: readonly string[];
  readonly numbers: readonly NumberSign[];
}

export function signsOf(row: Row, client: ClientName): Signs {
  const { outcome, stage } = expectedOf(row.expected);
  const notes = NOTES.filter(
    ({ rows, on, client: only }) =>
      rows.includes(row.id) && (on ?? revisionOf(client)) === revisionOf(client) && (only ?? client) === client,
  );
  const rules = new Set(notes.flatMap(({ findings = [] }) => findings));
  if (outcome === 'ambiguous') rules.add('ambiguous_close');
  // The lab's tool declares nothing: what was sent and not answered may have happened.
  if (outcome !== 'clean' && stage !== 'connect') rules.add('uncertain_write');
  // The stream had ended long before the client's timeout told the caller.
  if (row.hangs && row.id !== 'm' && row.id !== 'm2') rules.add('misattributed_timeout');
  return {
    findings: [...rules].sort(),
    numbers: [
      { metric: 'tailfin_retries_total', labels: {}, value: 0 },
      ...notes.flatMap(({ number }) => (number === undefined ? [] : [{ value: 1, ...number }])),
    ],
  };
}
