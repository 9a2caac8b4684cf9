/**
 * A pipeline that takes its lines as bytes, all in the same few bytes one after another, states what one states that takes them as
 * text: nothing of a line is looked for where it stood once it is over.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hash53, hash53Of } from '../../src/core/model/hash53.ts';
import { createPipeline, type Pipeline } from '../../src/core/pipeline.ts';
import { IdBytes } from '../../src/core/scan/id-bytes.ts';
import type { TextBytes } from '../../src/core/scan/text-bytes.ts';
import { ORIGIN } from '../support/build-event.ts';
import { holds } from '../support/property.ts';
import { said } from '../support/said.ts';
import { render } from '../support/traffic.ts';
import { plans } from '../support/traffic-plan.ts';

type Take = (pipeline: Pipeline, text: string, line: number) => void;

function factsOf(lines: readonly string[], home: string, take: Take): string[] {
  const facts: string[] = [];
  const pipeline = createPipeline({ home, ownClock: true, onFact: (fact) => facts.push(said(fact)) });
  for (const [i, text] of lines.entries()) take(pipeline, text, i + 1);
  pipeline.finish();
  return facts;
}

let taken = 0;
const chunk = Buffer.alloc(64 * 1024) as Buffer & TextBytes;
const asText: Take = (pipeline, text, line) => void pipeline.line(text, ORIGIN, line, 0);
const asBytes: Take = (pipeline, text, line) => {
  const length = chunk.write(text, 7, 'latin1');
  const result = pipeline.bytes(chunk, 7, 7 + length, ORIGIN, line, 0);
  chunk.fill('x', 7, 7 + length);
  if (result === null) pipeline.line(text, ORIGIN, line, 0);
  else taken++;
};

holds('the same facts', 300, [plans('any', 30), fc.constantFrom('h0', 'host')], (plan, home) => {
  const lines = render(plan, { loose: true }).lines.map((line) => JSON.stringify(line));
  assert.deepEqual(factsOf(lines, home, asBytes), factsOf(lines, home, asText));
  if (lines.length > 20) assert.ok(taken > 0);
});

const ascii = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 70,
});

holds(
  'ids among bytes: hashed and copied as their texts say',
  2000,
  [ascii, ascii, ascii],
  (exchange, digest, other) => {
    const bytes = Buffer.from(`\xff${exchange}\xff${digest}\xff\xff\xff\xff`, 'latin1');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    assert.equal(hash53Of(bytes, 1, exchange.length), hash53(exchange));
    const ids = new IdBytes();
    ids.begin(bytes, view, exchange, 1, digest, exchange.length + 2);
    const to = Buffer.alloc(80, 0xfe);
    const target = new DataView(to.buffer, to.byteOffset, to.length);
    const written = (text: string): string | null => {
      to.fill(0xfe);
      if (!ids.copy(text, target, 3)) return null;
      return to.toString('latin1');
    };
    for (const text of [exchange, digest, other]) {
      const isKnown = text !== other || other === exchange || other === digest;
      assert.equal(written(text), isKnown ? `\xfe\xfe\xfe${text}`.padEnd(80, '\xfe') : null);
      assert.equal(ids.hash(text), hash53(text));
    }
    ids.end();
    assert.equal(written(exchange), null);
  },
);
