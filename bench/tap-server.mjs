/** The server of bench/tap.mjs: answers every tools/call alike, by the path of its URL. What it costs is in nobody's measure. */
import { createServer } from 'node:http';

export const LARGE_BYTES = 128 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

const result = (id) => ({
  jsonrpc: '2.0',
  id,
  result: {
    content: [{ type: 'text', text: 'A line of a result, as a search would give it. '.repeat(20) }],
    structuredContent: {
      total: 2,
      hits: [
        { name: 'one', place: 'here' },
        { name: 'two', place: 'there' },
      ],
    },
    resultType: 'complete',
  },
});
const note = (n) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: n } });
const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } },
};

function json(res, message) {
  const body = JSON.stringify(message);
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

const ANSWERS = {
  '/json': (res, id) => json(res, result(id)),
  '/sse': (res, id) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.end(event(note(1)) + event(note(2)) + event(result(id)));
  },
  /** As fast as it is read. */
  '/large': (res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.write('{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"');
    let left = LARGE_BYTES;
    const more = () => {
      while (left > 0) {
        left -= PIECE.length;
        if (!res.write(PIECE)) return;
      }
      res.off('drain', more);
      res.end('"}]}}');
    };
    res.on('drain', more);
    more();
  },
  /** More than any buffer on the way takes: the connection stays busy until somebody lets go of it. */
  '/endless': (res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const more = () => {
      while (res.write(PIECE));
    };
    res.on('drain', more);
    more();
  },
};

/** {url(path), open(): answers that have begun and not ended, close()} */
export async function startServer() {
  let open = 0;
  const server = createServer((req, res) => {
    let body = '';
    open++;
    res.on('close', () => open--);
    res.on('error', () => {});
    req.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    req.on('end', () => {
      const { id, method } = JSON.parse(body);
      if (method === 'server/discover') json(res, { jsonrpc: '2.0', id, result: DISCOVERED });
      else ANSWERS[req.url](res, id);
    });
  });
  server.keepAliveTimeout = 120_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    open: () => open,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
