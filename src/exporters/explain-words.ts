/** The closed words of an operation in plain sentences, one table each. Nothing is decided here. */
import type { FailureClass } from '../core/model/operation.ts';
import type { ActionReason, SafetyReason } from '../core/stages/outcome.ts';

export const CLASS_TEXT: Readonly<Record<FailureClass, string>> = {
  timeout: 'time ran out while the stream was open',
  ambiguous: 'nothing proves whether the answer was complete',
  abandoned: 'the stream ended before the answer was there',
  http_error: 'the server answered 404, 429 or 5xx',
  refused: 'the server refused it with another status from 300 on',
  parse_failure: 'the answer came whole, but did not parse',
  unusable: 'it was answered, but its caller got nothing to use',
};

export const SAFETY_TEXT: Readonly<Record<SafetyReason, string>> = {
  not_a_call: 'only tools/call can change something',
  not_sent: 'nothing of the earlier request had been sent',
  answered_4xx: 'the earlier request was refused with a 4xx status',
  idempotency_key: 'the earlier request carried an idempotency key',
  read_only_tool: 'the tool is listed in servers.NAME.read_only_tools',
  annotations:
    "only the tool's own annotations say that it reads or is idempotent: a hint, no proof (read_only_tools would confirm it)",
  nothing:
    'the earlier request had been sent, or nobody knows; an idempotency key on it, or the tool in servers.NAME.read_only_tools, would make this safe',
};

export const ACTION_REASON: Readonly<Record<ActionReason, string>> = {
  sent_without_answer:
    'a tools/call that may have been sent has no answer; an idempotency key, or the tool in servers.NAME.read_only_tools, would allow a bounded repetition',
  answered_but_failed: 'the answer arrived with a 2xx status, yet its caller failed',
  confirmed_harmless: 'an idempotency key, or servers.NAME.read_only_tools, makes a second run harmless',
  not_a_call: 'only tools/call can change something',
  not_sent: 'nothing of the request had been sent',
  answered_4xx: 'the server refused it with a 4xx status',
  answered_with_error: 'the server answered a tools/call with an error of its own: it may have run in part',
};

export const EXPIRED_TEXT = {
  ttl: 'it never closed: no line for 15 min (24 h for listen and GET streams), so it has no verdict',
  writer_gone: 'it never closed: its writer started afresh, so it has no verdict',
  evicted: 'it was given up because too many exchanges were open, so it has no verdict',
} as const;
