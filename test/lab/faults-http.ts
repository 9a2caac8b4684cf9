/** Faults of the HTTP exchange itself: no head, refusals, other media types, redirects; and calls at the same time. */
import { CHUNKED, type Headers, HTML, HTML_TYPE, head, JSON_TYPE, SSE_TYPE, withLength } from './bytes.ts';
import { MARK } from './mark.ts';
import { type Id, rpcError } from './messages.ts';
import { answer, type Call, type Lab, type Script, send } from './script.ts';

/** The client's timeout ends it: by closing the connection, or, on 2025-11-25, by a notification with the POST left open. */
const untilTheClientGivesUp =
  (bytes?: Buffer): Script =>
  async (lab) => {
    const call = await lab.call();
    if (bytes !== undefined) await call.write(bytes);
    await lab.timeOut();
    if (lab.revision === '2026-07-28') await call.left();
  };
export const m = untilTheClientGivesUp();
export const m2 = untilTheClientGivesUp(head(200, { ...SSE_TYPE, ...CHUNKED }));

export const m3: Script = async (lab) => (await lab.call()).rst();
export const m4: Script = async (lab) => (await lab.call()).fin();
export const m5 = answer(() => head(200, JSON_TYPE).subarray(0, 20), 'fin');

const html = (status: number): Script => answer(() => withLength(status, HTML_TYPE, HTML));
const error = (status: number, code: number, data?: object, id?: Id): Script =>
  answer((call) => withLength(status, JSON_TYPE, errorBody(call, code, data, id)));
const errorBody = (call: Call, code: number, data?: object, id: Id | undefined = call.request.id): string =>
  rpcError(id ?? null, code, data);

export const n = html(404);
export const n2 = error(404, -32601);
export const n3 = error(404, -32001, undefined, null);
export const o3 = html(400);
export const o4 = html(502);
export const q = html(200);

/** One client refreshes its list of tools and sends again; nothing else may come. */
export const o: Script = async (lab) => {
  await error(400, -32020)(lab);
  if (lab.client === 'C2-2026') await whole(await lab.call());
};
export const o2 = error(400, -32022, { supported: ['2025-11-25'], requested: '2026-07-28' });

const NOTHING: Headers = { 'Content-Length': 0 };
export const q2 = answer(() => head(202, NOTHING));
export const q3: Script = async (lab) => {
  await answer(() => head(307, { ...NOTHING, Location: '/mcp/moved' }))(lab);
  await whole(await lab.call());
};

/** The host cannot connect: no request comes. */
export const l: Script = async () => {};

const CALLS = 4;
const whole = (call: Call): Promise<void> => call.write(withLength(200, { ...JSON_TYPE, ...MARK }, call.result()));

/**
 * One of four calls at the same time breaks as the script of its row says; the others get their answers one by one, each when
 * the one before has settled. A call that hangs settles last, by the client's timeout.
 */
export const oneOfFour =
  (fault: Script, hangs: boolean): Script =>
  async (lab) => {
    const [first, ...others] = (await lab.calls(CALLS)) as [Call, ...Call[]];
    await fault({ ...lab, call: async () => first });
    if (!hangs) await lab.settled();
    for (const call of others) {
      await whole(call);
      await lab.settled();
    }
    if (!hangs) return;
    await lab.timeOut();
    await lab.settled();
  };

/** All calls are in flight, two of them with a head, when the host closes its client. */
export const closedByHost: Script = async (lab: Lab) => {
  const calls = await lab.calls(3);
  const barrier = await lab.barrier();
  if (lab.revision === '2025-11-25') await lab.listened();
  await send(lab, barrier, (call) => withLength(200, JSON_TYPE, call.result()));
  for (const call of calls) await call.left();
};
