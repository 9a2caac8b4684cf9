/**
 * Carries one answer from the server to the host and breaks it as planned. Every injected end is deterministic on the wire: what
 * was forwarded arrives, then the fault. After a fault the rest of the answer is read and thrown away, to learn its length.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault, FaultPlan } from './faults.ts';

/** What became of one answer; the relay fills it in. */
export interface Delivery {
  json: boolean;
  fault: Fault;
  /** The whole answer was forwarded. */
  answered: boolean;
  /** Body bytes forwarded to the host, and sent by the server: the length that the answer should have had. */
  bytes: number;
  fullBytes: number;
  /** From the arrival of the request to the end of the response. */
  elapsedMs: number;
}

type Injected = Exclude<Fault, 'pass' | 'client_left'>;

interface Hands {
  send(part: Buffer): void;
  strike(fault: Injected): void;
}

export function relay(
  answer: IncomingMessage,
  res: ServerResponse,
  plan: FaultPlan | undefined,
  delivery: Delivery,
): void {
  const mediaType = answer.headers['content-type'] ?? '';
  const events = mediaType.startsWith('text/event-stream');
  delivery.json = mediaType.startsWith('application/json');
  const hands: Hands = {
    send(part) {
      delivery.bytes += part.length;
      if (part.length === 0 || res.write(part)) return;
      answer.pause();
      res.once('drain', () => answer.resume());
    },
    strike(fault) {
      delivery.fault = fault;
      // The host reads no more, so `drain` may never come.
      answer.resume();
      if (fault === 'reset') dropConnection(res);
      else res.end();
    },
  };
  const take =
    plan !== undefined && events
      ? cutEvents(plan, delivery, hands)
      : plan !== undefined && delivery.json
        ? cutJson(plan, delivery, hands)
        : hands.send;

  answer.on('data', (chunk: Buffer) => {
    delivery.fullBytes += chunk.length;
    if (delivery.fault === 'pass') take(chunk);
  });
  answer.on('end', () => {
    if (delivery.fault !== 'pass') return;
    if (plan === undefined || !events) delivery.answered = true;
    // A server ends a stream without its answer when the host told it to stop.
    else if (!delivery.answered) delivery.fault = 'client_left';
    res.end();
  });
  answer.on('error', () => res.destroy());
}

function cutJson(plan: FaultPlan, delivery: Delivery, { send, strike }: Hands) {
  return (chunk: Buffer): void => {
    const left = plan.jsonBytes - delivery.bytes;
    send(chunk.subarray(0, left));
    if (chunk.length > left) strike(plan.jsonFault);
  };
}

function cutEvents(plan: FaultPlan, delivery: Delivery, { send, strike }: Hands) {
  let pending = Buffer.alloc(0);
  return (chunk: Buffer): void => {
    pending = Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
      const event = pending.subarray(0, end + 2);
      pending = pending.subarray(end + 2);
      if (isAnswer(event)) {
        if (plan.streamFault === 'cut_mid_event') send(event.subarray(0, Math.floor(event.length * 0.6)));
        if (plan.streamFault !== 'pass') {
          strike(plan.streamFault);
          return;
        }
        delivery.answered = true;
      }
      send(event);
    }
  };
}

function isAnswer(event: Buffer): boolean {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1];
  return data !== undefined && !('method' in (JSON.parse(data) as object));
}

/** No TCP reset: that could overtake the forwarded bytes, and the host would see less than the log says. */
function dropConnection(res: ServerResponse): void {
  // After this turn: by then the response has handed its last write to the socket.
  setImmediate(() => res.socket?.destroySoon());
}
