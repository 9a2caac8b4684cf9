/**
 * Writes a benchmark file and its tally:
 *   node bench/generate.mjs FILE [--bytes 1GB] [--rate 500] [--seed 1] [--writers 4]
 * FILE gets NDJSON of about that many bytes, FILE.tally.json what any reader of it must count. Same options, same bytes.
 * The traffic is described in traffic.mjs.
 */
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createTraffic } from './traffic.mjs';

/** 2026-11-02T00:00:00Z: a fixed start keeps the bytes a function of the options. */
const START_TS = 1_793_577_600_000;
const BUFFER_BYTES = 1024 * 1024;
const STEP_MS = 1000;

/** Collects lines (ASCII only) in one buffer. */
function createWriter(fd) {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let used = 0;
  const flush = () => {
    for (let done = 0; done < used; ) done += writeSync(fd, buffer, done, used - done);
    used = 0;
  };
  return {
    line(text) {
      if (used + text.length > BUFFER_BYTES) flush();
      used += buffer.latin1Write(text, used);
    },
    flush,
  };
}

/** Returns the tally. The file appears under its name only when it is whole. */
export function generateFile({ path, bytes, rate = 500, seed = 1, writers = 4 }) {
  const traffic = createTraffic({ seed, rate, startTs: START_TS, writers });
  const partial = `${path}.partial`;
  const fd = openSync(partial, 'w');
  try {
    const writer = createWriter(fd);
    for (let ts = START_TS + STEP_MS; ; ts += STEP_MS) {
      traffic.advance(ts, writer.line);
      const { tally } = traffic;
      // What is pending will be written too.
      if (tally.bytes + (traffic.pending * tally.bytes) / Math.max(1, tally.lines) >= bytes) break;
    }
    traffic.drain(writer.line);
    writer.flush();
  } finally {
    closeSync(fd);
  }
  writeFileSync(`${path}.tally.json`, `${JSON.stringify(traffic.tally, null, 2)}\n`);
  renameSync(partial, path);
  return traffic.tally;
}

const UNITS = { '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };

export function parseSize(text) {
  const match = /^(\d+(?:\.\d+)?)\s*([KMG]?B|)$/i.exec(text);
  if (match === null) throw new Error(`not a size: ${text} (write 64MB, 1GB or a number of bytes)`);
  return Math.round(Number(match[1]) * UNITS[match[2].toUpperCase()]);
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      bytes: { type: 'string', default: '1GB' },
      rate: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      writers: { type: 'string', default: '4' },
    },
  });
  const [path] = positionals;
  if (path === undefined) {
    console.error('usage: node bench/generate.mjs FILE [--bytes 1GB] [--rate 500] [--seed 1] [--writers 4]');
    process.exitCode = 2;
    return;
  }
  const tally = generateFile({
    path,
    bytes: parseSize(values.bytes),
    rate: Number(values.rate),
    seed: Number(values.seed),
    writers: Number(values.writers),
  });
  const mean = (tally.bytes / tally.lines).toFixed(0);
  const minutes = ((tally.lastTs - tally.firstTs) / 60_000).toFixed(1);
  console.log(`${path}: ${tally.bytes} bytes, ${tally.lines} lines of ${mean} bytes, ${minutes} min of event time`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
