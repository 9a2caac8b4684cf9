/** The yardstick of OTLP in: JSON.parse of each body, and nothing done with it. `node bench/bare-bodies.mjs FILE` reads one body a line. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

let bodies = 0;
for await (const line of createInterface({ input: createReadStream(process.argv[2], { highWaterMark: 1024 * 1024 }) }))
  if (typeof JSON.parse(line) === 'object') bodies++;
console.log(bodies);
