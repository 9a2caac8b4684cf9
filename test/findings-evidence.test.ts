/** Each rule says what decided: in its evidence, and in `tailfin explain` of the exchange that it is about. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { before, test } from 'node:test';
import { explainCommand } from '../src/app/command-explain.ts';
import { type Config, loadConfig, toPolicy } from '../src/app/config.ts';
import { replay } from '../src/app/replay.ts';
import { RULES, type RuleName } from '../src/core/detectors/rules.ts';
import type { FindingFact } from '../src/core/model/facts.ts';
import { ROOT, SCENARIOS } from './support/cli.ts';

interface Seen {
  readonly file: string;
  readonly config: Config;
  readonly finding: FindingFact;
}
/** The first finding of each rule in the scenarios, one that names an exchange where there is one. */
const seen = new Map<RuleName, Seen>();

before(async () => {
  for (const name of readdirSync(SCENARIOS)) {
    const file = relative(ROOT, join(SCENARIOS, name, 'events.ndjson'));
    const own = join(SCENARIOS, name, 'tailfin.yaml');
    const config = loadConfig(existsSync(own) ? { file: own } : {});
    await replay({
      ...{ files: [file], host: 'files', policy: toPolicy(config) },
      onFact(fact) {
        if (fact.is !== 'finding') return;
        const before = seen.get(fact.rule);
        if (before === undefined || (before.finding.exchange === null && fact.exchange !== null))
          seen.set(fact.rule, { file, config, finding: structuredClone(fact) });
      },
    });
  }
});

async function explained({ file, config, finding }: Seen): Promise<string> {
  const parts: string[] = [];
  const output = { write: (part: string) => parts.push(part), settle: async () => {} };
  await explainCommand({ files: [file], exchange: finding.exchange as string, config, warn: () => {} }, output);
  return parts.join('');
}

/** Shown by a line that need not name an exchange, and explain tells about exchanges: the evidence and the line are in the finding. */
const WITHOUT_EXCHANGE: readonly RuleName[] = ['reconnect_loop', 'closed_client_call', 'parse_failure_size_step'];

for (const rule of RULES)
  test(`${rule}: its evidence says what decided, and explain says the same`, async () => {
    const known = seen.get(rule);
    assert.ok(known !== undefined, 'no scenario fires it');
    const facts = Object.entries(known.finding.evidence).filter(([, value]) => value !== null);
    assert.ok(facts.length > 0, 'evidence without a fact');
    assert.ok(known.finding.at !== null, 'no line to look at');
    if (known.finding.exchange === null) {
      assert.ok(WITHOUT_EXCHANGE.includes(rule), 'it names no exchange');
      return;
    }
    const story = await explained(known);
    const line = story.split('\n').find((each) => each.trimStart().startsWith(`${rule}: `)) ?? '';
    for (const [name, value] of facts) assert.ok(line.includes(`${name}=${value}`), `${name}=${value}\n${story}`);
  });
