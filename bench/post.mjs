/** Senders of event batches: each keeps one connection and sends one batch after the other, as a host does. */
import { Agent, request } from 'node:http';

/** `post(body, headers)` resolves to {status, body}, the answer's text; rejects when there is none. */
export function createSender(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    post: (body, headers = {}) =>
      new Promise((resolve, reject) => {
        const options = {
          agent,
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson', 'content-length': body.length, ...headers },
        };
        const sent = request(url, options, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece) => {
            text += piece;
          });
          response.on('end', () => resolve({ status: response.statusCode, body: text }));
          response.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** Sends until it is taken: a refusal for want of room, and an answer that never came, are tried again. */
export async function postUntilTaken(sender, body, headers) {
  for (let attempt = 1; ; attempt++) {
    const answer = await sender.post(body, headers).catch((error) => ({ status: 0, body: String(error) }));
    if (answer.status === 200) return JSON.parse(answer.body);
    if (attempt === 20 || ![0, 429, 503].includes(answer.status)) throw new Error(`${answer.status} ${answer.body}`);
    await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
  }
}
