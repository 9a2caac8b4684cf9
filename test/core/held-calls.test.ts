/** Where thousands of failed calls wait, names stand in the keys of the index: what is said of other calls is the same. */
import assert from 'node:assert/strict';
import { FEW_WAITING } from '../../src/core/stages/joining.ts';
import { close, type Line, RESET, runLines } from '../support/build-event.ts';
import { holds } from '../support/property.ts';
import { said } from '../support/said.ts';
import { render } from '../support/traffic.ts';
import { plans } from '../support/traffic-plan.ts';

const WAITING = 'waiting';

function factsOf(lines: readonly Line[], before: readonly Line[]): string[] {
  const facts: string[] = [];
  runLines([...before, ...lines], {
    tickEach: 1,
    onFact(fact) {
      const text = said(fact);
      if (!text.includes(WAITING)) facts.push(text.replace(/"line":\d+/g, ''));
    },
  });
  return facts;
}

const waitingAt = (ts: number): Line[] =>
  Array.from({ length: FEW_WAITING + 100 }, (_, i) => ({
    ...close(`${WAITING}-${i}`, 0, { ...RESET, server: WAITING, host: WAITING, client: WAITING, args_digest: `w${i}` }),
    ts,
  }));

holds('the same facts, however many calls wait', 40, [plans('any', 30)], (plan) => {
  const { lines } = render(plan, { loose: true });
  const [first] = lines;
  if (first === undefined) return;
  const alone = factsOf(lines, []);
  const many = factsOf(lines, waitingAt((first.ts as number) - 1));
  const differs = alone.findIndex((fact, i) => fact !== many[i]);
  if (differs !== -1) assert.equal(many[differs], alone[differs], `fact ${differs}`);
  assert.equal(many.length, alone.length);
});
