/** Faults of answers that come as an event stream: rows g to j2, k3 and k4 of the table. */
import { CHUNKED, chunk, event, type Headers, head, join, LAST_CHUNK, SSE_TYPE, withLength } from './bytes.ts';
import { MARK } from './mark.ts';
import { progress, rpcError } from './messages.ts';
import { answer, type Call, type Script } from './script.ts';

const OK: Headers = { ...SSE_TYPE, ...MARK };
/** Clients wait as long as the server asks before they resume; a second each otherwise. */
const PRIME = event('', { id: 'first', retry: 20 });

const open = (...events: readonly string[]): Buffer => join(head(200, { ...OK, ...CHUNKED }), chunk(events.join('')));
const ended = (...events: readonly string[]): Buffer => join(open(...events), LAST_CHUNK);
const closing = (...events: readonly string[]): Buffer => join(head(200, { ...OK, Connection: 'close' }), ...events);

const note = (call: Call, value = 1): string => event(progress(call.request, value));
const response = (call: Call): string => event(call.result());
const half = (text: string): string => text.slice(0, text.length >> 1);

export const g = answer((call) => ended(note(call), response(call)));
export const g3 = answer((call) => ended(response(call).trimEnd()));

/** The host goes on with its next call while the stream is open; only then does it break, or end. */
const afterTheAnswer =
  (finish: (call: Call) => Promise<void>): Script =>
  async (lab) => {
    const call = await lab.call();
    await call.write(open(response(call)));
    await lab.after();
    await finish(call);
  };
export const g2 = afterTheAnswer((call) => call.rst());
export const g4 = afterTheAnswer((call) => call.write(LAST_CHUNK));

export const h0 = answer(() => ended());
export const h = answer((call) => ended(note(call), note(call, 2)));
export const i = answer((call) => ended(note(call), half(response(call))));
export const i2 = answer((call) => ended(note(call), event(half(call.result()))));

export const j: Script = async (lab) => {
  const call = await lab.call();
  await call.write(open(note(call)));
  await lab.progressed();
  await call.rst();
};
export const j2 = answer((call) => open(note(call)), 'fin');

export const k3 = answer((call) => closing(note(call)), 'fin');
export const k4 = answer((call) => closing(note(call), response(call)), 'fin');

/** A POST that can be resumed ends without its answer, then `times` GETs get what `onResume` says. */
const primed =
  (how: 'end' | 'rst', onResume: (post: Call) => Buffer, times = 1): Script =>
  async (lab) => {
    const post = await lab.call();
    await post.write(open(PRIME, note(post)));
    if (how === 'end') await post.write(LAST_CHUNK);
    else {
      await lab.progressed();
      await post.rst();
    }
    for (let n = 0; n < times; n++) await (await lab.resume()).write(onResume(post));
  };
const refused = (): Buffer => withLength(405, {}, '');
const resumed = (post: Call): Buffer => ended(event(post.result(), { id: 'second' }));
/** Both SDKs give up after two. */
const RESUMES = 2;

export const h2 = primed('end', refused);
export const h2r = primed('end', resumed);
export const h2f = primed('end', () => withLength(500, {}, ''), RESUMES);
export const h3 = primed('rst', refused);
export const h3r = primed('rst', resumed);

/** An error is an answer, though one client resumes all the same. */
export const h4: Script = async (lab) => {
  const call = await lab.call();
  await call.write(ended(PRIME, event(rpcError(call.request.id ?? null, -32602))));
  if (lab.client === 'S1') await (await lab.resume()).write(refused());
};
