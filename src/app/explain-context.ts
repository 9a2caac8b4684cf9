/**
 * Lines about something else that bear on one exchange: the announcement in force when it opened, what happened to its client, a
 * cancellation that names it, the deletion of its session, its resume GETs, the end of its carrier. Bounded; it gathers by client,
 * server and time, and what the pipeline makes of a line is not repeated here.
 */
import type { WireEvent } from '../core/model/event.ts';
import type { ToldLine } from '../exporters/explanation.ts';
import { toldLine } from '../exporters/line-words.ts';
import { plain } from '../exporters/plain.ts';
import type { TargetExchange } from './explain-find.ts';

const MAX_LINES = 12;
/** Lines that are held until it is known whether they are about this exchange: the latest ones. */
const MAX_HELD = 64;
/** What a client that closes breaks off ends within this time. */
const CLOSING_MS = 1000;

interface Named {
  readonly name: string;
  readonly told: ToldLine;
}

export interface ContextLines {
  /** A line of the exchange itself: tells its ids. */
  own(event: WireEvent): void;
  other(event: WireEvent, server: string): void;
  /** In the order of their times. */
  lines(): ToldLine[];
}

/** `until`: when the next attempt opened, or the exchange ended. */
export function createContextLines(target: TargetExchange, until: number): ContextLines {
  const { client, server, openTs, closeTs, judgedTs } = target;
  const names = new Set([target.id]);
  let carrier: string | null = null;
  let announced: ToldLine | null = null;
  const told: ToldLine[] = [];
  const cancels: Named[] = [];
  const ended: Named[] = [];
  const legs = new Set<string>();
  /** Of the event ids that it, or a resume of it, carried. */
  const digests = new Set<string>();

  const tell = (event: WireEvent, what: string): void => {
    if (told.length < MAX_LINES) told.push(toldLine(event, what));
  };
  const hold = (held: Named[], name: string, event: WireEvent, what: string): void => {
    held.push({ name, told: toldLine(event, what) });
    if (held.length > MAX_HELD) held.shift();
  };
  const during = (ts: number): boolean => openTs <= ts && ts <= closeTs;
  const noteDigest = (digest: string | null | undefined): void => {
    if (typeof digest === 'string' && digests.size < MAX_HELD) digests.add(digest);
  };
  /** A resume GET while it waited for one; another digest is that of another stream. */
  const isLeg = ({ fields, ts }: WireEvent, of: string): boolean => {
    if (fields.last_event_id !== true || of !== server || !(judgedTs > closeTs)) return false;
    const digest = fields.event_id_digest ?? null;
    return ts >= closeTs && ts <= judgedTs && (digest === null || digests.size === 0 || digests.has(digest));
  };

  /** A line of a client: what happened to it while this exchange or the wait for the next one went on. */
  const noteClient = (event: WireEvent): void => {
    const { ts } = event;
    if (client === null || event.fields.client !== client) return;
    if (ts >= openTs - CLOSING_MS && ts <= Math.max(closeTs, until)) tell(event, plain(`client ${client}`));
  };
  const noteExchange = (event: WireEvent, exchange: string, of: string): void => {
    const { type, fields, ts } = event;
    // Most lines are of another time: the end of a carrier comes with that of its exchange.
    if (ts < openTs - CLOSING_MS || (ts > closeTs + CLOSING_MS && ts > judgedTs)) return;
    const what = plain(`${type} of ${exchange}`);
    // Only the first line of an exchange may name its client.
    const other = fields.client !== undefined && fields.client !== client;
    if (legs.has(exchange) || (!other && legs.size < MAX_LINES && isLeg(event, of))) {
      legs.add(exchange);
      noteDigest(fields.event_id_digest);
      tell(event, what);
    } else if (type === 'close' && (carrier === null || carrier === exchange) && ts <= closeTs + CLOSING_MS) {
      hold(ended, exchange, event, what);
    }
    if (other || !during(ts)) return;
    if (typeof fields.cancel_of === 'string') hold(cancels, fields.cancel_of, event, what);
    else if (fields.http_method?.toUpperCase() === 'DELETE') tell(event, what);
  };

  return {
    own({ fields }) {
      if (typeof fields.rpc_id === 'string') names.add(fields.rpc_id);
      if (typeof fields.carrier === 'string') carrier = fields.carrier;
      noteDigest(fields.event_id_digest);
    },
    other(event, of) {
      const { type, fields, ts } = event;
      if (type === 'discovery') {
        if (of === server && ts <= openTs) announced = toldLine(event, type);
      } else if (type === 'client') noteClient(event);
      else if (typeof fields.exchange === 'string') noteExchange(event, fields.exchange, of);
    },
    lines() {
      const named = [
        ...cancels.filter(({ name }) => names.has(name)),
        ...ended.filter(({ name }) => name === carrier),
      ].map((each) => each.told);
      const all = [...(announced === null ? [] : [announced]), ...told, ...named];
      return all.sort((a, b) => a.ts - b.ts);
    },
  };
}
