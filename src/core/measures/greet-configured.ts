/** What the configuration says of servers is a fact before any event: their series stand at 0 from the start. */
import type { Policy } from '../model/policy.ts';
import type { Measure } from './measure.ts';

export function greetConfigured({ servers }: Policy, measure: Measure): void {
  // Their findings start at 0 like those of any server that was seen.
  for (const { name } of servers) measure({ is: 'seen', server: name, version: null });
  for (const { name, sentinel, selfDelimiting } of servers) {
    if (sentinel === undefined && selfDelimiting === undefined) continue;
    // Regime C is an error to fix before it fails.
    measure({ is: 'contract', server: name, version: 'unknown', contract: { sentinel, selfDelimiting } });
  }
}
