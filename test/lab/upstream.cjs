/**
 * A child process: an MCP server of revision 2026-07-28 that stops in the middle of an event, so that its parent can kill it there.
 * It reports its port, and that the half event is with the kernel.
 */
const { createServer } = require('node:http');

const answerTo = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  },
};

const server = createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  req.on('end', () => {
    const { id, method, params } = JSON.parse(body);
    const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'tailfin-lab', version: '1.0.0' } };
    const result = answerTo[method];
    if (result !== undefined) {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, resultType: 'complete', _meta: meta } }));
      return;
    }
    const { progressToken } = params._meta;
    const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } };
    const answer = {
      jsonrpc: '2.0',
      id,
      result: { content: [{ type: 'text', text: 'half' }], resultType: 'complete' },
    };
    const half = `event: message\ndata: ${JSON.stringify(answer)}`.slice(0, -30);
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write(`event: message\ndata: ${JSON.stringify(note)}\n\n${half}`, () => process.send('half'));
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
