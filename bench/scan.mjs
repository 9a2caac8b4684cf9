/**
 * What the tap's body scanner costs: MiB of body per CPU second, and the ratio to JSON.parse of the decoded text, which a host does
 * anyway. `node bench/scan.mjs [--quick]`; part of `npm run bench:tap`. Exits 1 when the goal is missed.
 *
 * Both sides get the same bodies in the same chunks and run in turn; a row is the median of the rounds. CPU time, not wall time:
 * the machine is shared. Judged are the rows that stand for what servers send: text results, as one body or as events.
 */
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { median } from './measure.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const GOAL_MIB = 250;
const MIB = 1024 * 1024;
/** What undici hands on at a time. */
const CHUNK = 65_536;
const QUICK = process.argv.includes('--quick');
const ROUNDS = QUICK ? 3 : 9;
const MIB_PER_TURN = QUICK ? 16 : 64;

/** The scanner as it is shipped: bundled for Node 20. */
async function loadScanner() {
  const outfile = here(`scan-${process.pid}.tmp.cjs`);
  try {
    await build({
      entryPoints: [here('../src/tap/scan/body-scan.ts')],
      outfile,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      logLevel: 'warning',
    });
    return createRequire(import.meta.url)(outfile);
  } finally {
    rmSync(outfile, { force: true });
  }
}

const WORDS =
  'the server returned 42 rows of stock for “Zürich” in order; see the table below and retry when it is empty'.split(
    ' ',
  );
const words = (bytes) => {
  let text = '';
  for (let i = 0; text.length < bytes; i++) text += WORDS[(i * 7) % WORDS.length] + (i % 12 === 11 ? '\n' : ' ');
  return text;
};
const rows = (bytes) =>
  Array.from({ length: bytes / 75 }, (_, n) => ({
    id: n,
    sku: `A-${n % 997}`,
    quantity: n % 50,
    note: 'in stock',
    ok: true,
  }));
const result = (content, more = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  result: { content: content.map((text) => ({ type: 'text', text })), isError: false, ...more },
});
const note = (progress) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 7, progress },
});
const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const notes = (bytes) => Array.from({ length: bytes / 110 }, (_, n) => event(note(n))).join('');

const KINDS = [
  ['JSON, prose in one text part, 1 MiB', true, 'json', () => JSON.stringify(result([words(MIB)]))],
  [
    'JSON, prose in text parts of 4 KiB, 1 MiB',
    true,
    'json',
    () => JSON.stringify(result(Array(256).fill(words(4096)))),
  ],
  ['JSON, image (base64), 1 MiB', true, 'json', () => JSON.stringify(image(MIB))],
  ['JSON, small results of 2 KiB', true, 'json', () => JSON.stringify(result([words(2048)]))],
  [
    'JSON, rows as JSON in a text part, 1 MiB',
    false,
    'json',
    () => JSON.stringify(result([JSON.stringify(rows(MIB / 1.4))])),
  ],
  [
    'JSON, rows as structuredContent, 1 MiB',
    false,
    'json',
    () => JSON.stringify(result([], { structuredContent: rows(MIB) })),
  ],
  ['SSE, notes and a text result of 256 KiB', true, 'sse', () => notes(8192) + event(result([words(MIB / 4)]))],
  [
    'SSE, text results in events of 2 KiB',
    true,
    'sse',
    () =>
      Array(128)
        .fill(event(result([words(2048)])))
        .join(''),
  ],
  ['SSE, notifications of 120 B', false, 'sse', () => notes(MIB / 4)],
];

function image(bytes) {
  const data = Buffer.alloc((bytes * 3) / 4, words(4096)).toString('base64');
  return { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'image', mimeType: 'image/png', data }] } };
}

const chunksOf = (body) => {
  const chunks = [];
  for (let at = 0; at < body.length; at += CHUNK) chunks.push(new Uint8Array(body.subarray(at, at + CHUNK)));
  return chunks;
};

function scanBody(createBodyScan, mediaType, chunks) {
  const scan = createBodyScan({
    mediaType,
    status: 200,
    contentEncoding: null,
    contentLength: null,
    idMatch: (id) => id === '7',
    method: 'tools/call',
    digest: () => 'h:0',
    now: () => 0,
  });
  for (const chunk of chunks) scan.push(chunk);
  return scan.close();
}

function parseBody(kind, chunks) {
  const decoder = new TextDecoder();
  let text = '';
  for (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  if (kind === 'json') return JSON.parse(text);
  return text.split('\n\n').map((part) => part !== '' && JSON.parse(part.slice(part.indexOf('data: ') + 6)));
}

/** MiB per CPU second of one turn. */
function speedOf(work, bytes) {
  const times = Math.max(1, Math.round((MIB_PER_TURN * MIB) / bytes));
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) work();
  const { user, system } = process.cpuUsage(before);
  return (times * bytes) / MIB / ((user + system) / 1e6);
}

const { createBodyScan } = await loadScanner();
let missed = 0;
console.log(`| ${'body'.padEnd(44)} | MiB per CPU second | against JSON.parse | goal     |      |`);
console.log(`|${'-'.repeat(46)}|-------------------:|-------------------:|----------|------|`);
for (const [name, judged, kind, make] of KINDS) {
  const body = Buffer.from(make());
  const chunks = chunksOf(body);
  const mediaType = kind === 'json' ? 'application/json' : 'text/event-stream';
  const facts = scanBody(createBodyScan, mediaType, chunks);
  if (facts.bytes !== body.length || (kind === 'json' && facts.json !== 'complete'))
    throw new Error(`${name}: misread`);
  const scan = () => scanBody(createBodyScan, mediaType, chunks);
  const parse = () => parseBody(kind, chunks);
  const speeds = [];
  const ratios = [];
  speedOf(scan, body.length);
  for (let round = 0; round < ROUNDS; round++) {
    const own = speedOf(scan, body.length);
    speeds.push(own);
    ratios.push(own / speedOf(parse, body.length));
  }
  const speed = median(speeds);
  const isMet = speed >= GOAL_MIB;
  if (judged && !isMet) missed++;
  const verdict = judged ? (isMet ? 'ok' : 'MISS') : '-';
  const columns = [speed.toFixed(0).padStart(18), `${median(ratios).toFixed(1)} x`.padStart(18)];
  console.log(
    `| ${name.padEnd(44)} | ${columns.join(' | ')} | ${judged ? `>= ${GOAL_MIB}` : '      '}   | ${verdict.padEnd(4)} |`,
  );
}
process.exitCode = missed === 0 ? 0 : 1;
