/** A host that makes one MCP request by itself, one in a worker from a file, one in a worker from text, one in a child process. */
const { Worker, isMainThread } = require('node:worker_threads');
const { execFileSync, fork } = require('node:child_process');

const { URL_OF_SERVER: url } = process.env;
const request = (who) =>
  `fetch(${JSON.stringify(url)}, { method: 'POST', headers: { 'mcp-protocol-version': '2025-11-25' },` +
  ` body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '${who}' } }) }).then((r) => r.text())`;
// biome-ignore lint/security/noGlobalEval: the same request in every place.
const speak = (who) => eval(request(who));

async function main() {
  if (!isMainThread) return speak('file-worker');
  if (process.argv[2] === 'child') return speak('child');
  await speak('main');
  // Listened to at once: one may end while the other is waited for.
  const ends = [new Worker(__filename), new Worker(request('eval-worker'), { eval: true })].map(
    (worker) => new Promise((done, failed) => worker.once('exit', done).once('error', failed)),
  );
  await Promise.all(ends);
  await new Promise((done) => fork(__filename, ['child']).once('exit', done));
  execFileSync(process.execPath, ['-e', '']);
}

main();
