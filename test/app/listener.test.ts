/** A listener that is closed: answers that are on their way end, and nobody who holds a connection can hold up the stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startListener } from '../../src/app/listener.ts';
import { until } from '../support/until.ts';

const LISTEN = { host: '127.0.0.1', port: 0 };

test('close: an answer that is under way is given, whole; nothing new is taken', async (t) => {
  const open: ServerResponse[] = [];
  const server = await startListener(LISTEN, (_request, response) => void open.push(response));
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const answered = new Promise<string>((resolve, reject) => {
    get(`http://${server.address}/`, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
  await until(() => open.length === 1, { what: () => 'the request arrived' });
  const closed = server.close();
  await assert.rejects(fetch(`http://${server.address}/`));
  const body = 'x'.repeat(1_000_000);
  open[0]?.end(body);
  assert.equal(await answered, body);
  await closed;
});

test('close: who never ends is cut off', async () => {
  const open: ServerResponse[] = [];
  const server = await startListener(LISTEN, (_request, response) => void open.push(response));
  const [host, port] = server.address.split(':');
  const silent = connect(Number(port), host);
  const waiting = connect(Number(port), host);
  for (const socket of [silent, waiting]) socket.on('error', () => {});
  await Promise.all([once(silent, 'connect'), once(waiting, 'connect')]);
  waiting.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => open.length === 1, { what: () => 'the request arrived' });
  const gone = Promise.all([once(silent, 'close'), once(waiting, 'close')]);
  const since = performance.now();
  await server.close();
  await gone;
  assert.ok(performance.now() - since < 3000);
});
