/** A stream that should have been taken up again was not. */
import { aboutExchange, detector } from './detector.ts';

export const resumeFailed = detector({
  rule: 'resume_failed',
  on: ['verdict'],
  ignoresPlain: true,
  fires: 'a resume GET was refused, or a suspended stream ended for good after resume GETs that brought no answer',
  means: 'The server offers event ids but does not keep what it would need to resume: the answer is lost.',
  needs: '`last_event_id`, `event_ids`',
  source: 'MCP 2025-11-25, basic/transports: resumability and redelivery',
  action: 'Check the event store of the server, and that the GET reaches an instance that shares it.',
  create: () => (fact, emit) => {
    const { exchange, kind, verdict } = fact;
    const { status } = exchange.fields;
    // Re-authorisation is a step of the protocol.
    if (kind === 'resume' && typeof status === 'number' && status >= 400 && status !== 401 && status !== 403)
      emit(aboutExchange('resume_failed', exchange, { status }));
    else if (verdict !== null && verdict.outcome !== 'clean' && exchange.resumes > 0)
      emit(aboutExchange('resume_failed', exchange, { resumes: exchange.resumes, cause: verdict.cause }));
  },
});
