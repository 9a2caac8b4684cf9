/** Configuration to the core's policy: the globs are compiled here, once, so that the core asks plain functions. */
import type { Policy, ServerPolicy } from '../core/model/policy.ts';
import { THRESHOLDS, type ThresholdName, type Thresholds } from '../core/model/thresholds.ts';
import type { Config, ServerConfig } from './config-keys.ts';
import { nameMatcher } from './name-glob.ts';

/** Names come from events: remembered answers are capped, and an evicted one is only computed again. */
const MAX_REMEMBERED = 1000;

/** An event's server belongs to the entry of exactly that NAME, else to the first entry of the file whose `match` fits. */
export function toPolicy(config: Config): Policy {
  const rules = config.servers.map((server) => ({
    policy: toServerPolicy(server),
    matches: nameMatcher(server.match === undefined ? [] : [server.match]),
  }));
  const byName = new Map(rules.map(({ policy }) => [policy.name, policy]));
  const remembered = new Map<string, ServerPolicy | undefined>();

  return {
    cutMid: config.policyCutMid,
    thresholds: toThresholds(config),
    servers: rules.map(({ policy }) => policy),
    server(name) {
      const exact = byName.get(name);
      if (exact !== undefined || remembered.has(name)) return exact ?? remembered.get(name);
      const found = rules.find(({ matches }) => matches(name))?.policy;
      if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
      remembered.set(name, found);
      return found;
    },
  };
}

function toThresholds(config: Config): Thresholds {
  const names = Object.keys(THRESHOLDS) as ThresholdName[];
  return Object.fromEntries(names.map((name) => [name, config[`thresholds.${name}`]])) as Thresholds;
}

function toServerPolicy(server: ServerConfig): ServerPolicy {
  return {
    name: server.name,
    endpoints: server.endpoints,
    sentinel: server.sentinel,
    selfDelimiting: server.selfDelimiting,
    sticky: server.sticky,
    isReadOnlyTool: nameMatcher(server.readOnlyTools),
  };
}
