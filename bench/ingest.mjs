/**
 * What a batch by HTTP costs: events per CPU second of the whole sidecar process, against bare JSON.parse of the same bodies, and
 * whether the totals are the generator's. `node bench/ingest.mjs [EVENTS]` prints it as JSON.
 *
 * Four senders, one a writer, in step with each other. Event time runs at 500 exchanges/s, as for files, and ends long enough ago
 * for every window to close as soon as the sidecar has been idle for 10 s.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { differences, parseExposition } from './exposition.mjs';
import { cpuSecondsOf, rssMibOf, runMeasured, withFolder, withSidecar } from './measure.mjs';
import { createSender, postUntilTaken } from './post.mjs';
import { createTraffic } from './traffic.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const BATCH = 100;
const WRITERS = 4;
const RATE = 500;
const QUIET_MS = 11 * 60_000;
const CLOSED_WITHIN_MS = 60_000;

/** Bodies by writer, and the tally of all of them. */
function createBodies(events) {
  const startTs = Date.now() - QUIET_MS - Math.ceil((events / RATE) * 1000);
  const traffic = createTraffic({ seed: 3, rate: RATE, startTs, writers: WRITERS });
  const lines = Array.from({ length: WRITERS }, () => []);
  const bodies = Array.from({ length: WRITERS }, () => []);
  const cut = (writer) => {
    if (lines[writer].length > 0) bodies[writer].push(Buffer.from(lines[writer].join('')));
    lines[writer] = [];
  };
  const sink = (line, writer) => {
    lines[writer].push(line);
    if (lines[writer].length === BATCH) cut(writer);
  };
  for (let ts = startTs; traffic.tally.lines + traffic.pending < events; ts += 1000) traffic.advance(ts, sink);
  traffic.drain(sink);
  for (let writer = 0; writer < WRITERS; writer++) cut(writer);
  return { bodies, tally: traffic.tally };
}

async function send(localUrl, bodies) {
  const senders = bodies.map(() => createSender(`${localUrl}v1/events`));
  const rounds = Math.max(...bodies.map((each) => each.length));
  for (let round = 0; round < rounds; round++) {
    const sending = senders.map((sender, w) => {
      const body = bodies[w][round];
      return body && postUntilTaken(sender, body);
    });
    await Promise.all(sending);
  }
  for (const sender of senders) sender.close();
}

/** {events, cpuSeconds, eventsPerCpuSecond, bareCpuSeconds, ratio, rssMib, differences} */
export async function measureIngest(main, events) {
  const { bodies, tally } = createBodies(events);
  const bare = await withFolder((folder) => {
    const file = join(folder, 'bodies.ndjson');
    for (const body of bodies.flat()) appendFileSync(file, body);
    return runMeasured([here('bare-loop.mjs'), file]);
  });
  const use = async ({ pid, url, localUrl }) => {
    const before = cpuSecondsOf(pid);
    await send(localUrl, bodies);
    const cpuSeconds = cpuSecondsOf(pid) - before;
    const rssMib = rssMibOf(pid);
    let found;
    for (const end = Date.now() + CLOSED_WITHIN_MS; Date.now() < end; await sleep(500)) {
      found = differences(parseExposition(await (await fetch(url)).text()), tally);
      if (found.length === 0) break;
    }
    return { cpuSeconds, rssMib, differences: found };
  };
  const run = await withSidecar(main, use, ['--ingest', '--local-listen', '127.0.0.1:0']);
  return {
    events: tally.lines,
    eventsPerCpuSecond: tally.lines / run.cpuSeconds,
    bareCpuSeconds: bare.cpuSeconds,
    ratio: bare.cpuSeconds / run.cpuSeconds,
    ...run,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const main = process.env.BENCH_MAIN ?? here('../dist/main.js');
  console.log(JSON.stringify(await measureIngest(main, Number(process.argv[2] ?? 300_000)), null, 2));
}
