/**
 * Alerts about what happens to the calls. Each has a count beside its ratio: a share says nothing about two calls, a count nothing about a
 * million. Thresholds come from settings.json. What a finding says too is asked of the findings: their series exist at 0 from the start.
 */
import { UNDELIVERED } from '../../src/core/detectors/rules.ts';
import { LEVEL } from '../names.ts';
import { max, sum } from '../queries.ts';
import { type Alert, type AlertContext, SERVER_AT } from './alert.ts';
import { BURNS, type Burn } from './burn.ts';
import { RECORDED } from './recording.ts';

const level = [...LEVEL];
const AT_SERVER = ['namespace', 'server'] as const;

function burn({ settings }: AlertContext, { factor, long, short, severity, ...rest }: Burn): Alert {
  const limit = `(${factor} * ${settings.ambiguous_budget})`;
  return {
    name: severity === 'critical' ? 'TailfinAmbiguousCloseBurnFast' : 'TailfinAmbiguousCloseBurnSlow',
    expr: `${RECORDED.burnRatio(long)} > ${limit}
and
${RECORDED.burnRatio(short)} > ${limit}
and
${RECORDED.ambiguousCloses(long)} > ${settings.ambiguous_burn_closes}`,
    for: rest.for,
    severity,
    labels: { long, short },
    summary: 'Response streams of an MCP server end without proof that they were complete.',
    description: `{{ $value | humanizePercentage }} of the response streams of ${SERVER_AT} ended in ${long} in an orderly way without their answer: more than ${factor} times what the budget allows. Callers may have taken a part for the whole. First look which endpoint it is, and whether the bytes stop inside an event.`,
    board: 'streams',
    variables: AT_SERVER,
    since: long,
  };
}

export function trafficAlerts(context: AlertContext): readonly Alert[] {
  const { q, settings } = context;
  const keepFiringFor = settings.keep_firing_for;
  const common = { board: 'retries', variables: AT_SERVER } as const;
  return [
    ...BURNS.map((each) => burn(context, each)),
    {
      ...common,
      name: 'TailfinMaskedByRotation',
      expr: `${RECORDED.maskedRatio} > ${settings.masked_ratio}\nand\n${RECORDED.masked} > ${settings.masked_operations}`,
      for: '10m',
      keepFiringFor,
      severity: 'warning',
      summary: 'Calls fail on one endpoint and work on another: no error rate shows it.',
      description: `{{ $value | humanizePercentage }} of the calls to ${SERVER_AT} failed on one endpoint and were repeated on another within an hour. First find the endpoint that breaks them and take it out of service.`,
    },
    {
      ...common,
      name: 'TailfinHiddenFailures',
      expr: `${RECORDED.hiddenRatio} > ${settings.hidden_ratio}\nand\n${RECORDED.hidden} > ${settings.hidden_operations}`,
      for: '15m',
      keepFiringFor,
      severity: 'warning',
      summary: 'Many calls fail at first, or are taken for a success without proof, and no error rate shows it.',
      description: `{{ $value | humanizePercentage }} of the calls to ${SERVER_AT} failed at least once within an hour and were repeated until they worked, or an unproven answer was taken for a success. First look which result it is: masked_unknown is one name before several instances, unproven a part of an answer that somebody uses.`,
    },
    {
      ...common,
      name: 'TailfinLengthCorrelatedParseFailures',
      expr: `${RECORDED.trendZ} > ${settings.trend_z}\nand\n${RECORDED.trendR} > ${settings.trend_r}\nand\n${RECORDED.trend.failed} >= ${settings.trend_failures}`,
      for: '10m',
      keepFiringFor,
      severity: 'warning',
      summary: 'The longer a payload of an MCP server is, the more often it does not parse.',
      description: `Parse failures of {{ $labels.of }} payloads of ${SERVER_AT} grow with length (z = {{ $value | humanize }}): long answers are cut on the way. First look for a limit of bytes or time between host and server.`,
      board: 'parsing',
    },
    {
      ...common,
      name: 'TailfinHardSizeStep',
      expr: `${sum(level, q.increase('findings', '1h', { rule: 'parse_failure_size_step' }))} > ${settings.size_steps}`,
      for: '1m',
      severity: 'warning',
      summary: 'From some size on, nothing that an MCP server sends parses.',
      description: `Above some size all payloads of ${SERVER_AT} fail, below it all work (found {{ $value | humanize }} times in an hour). First compare the size on the board with body and buffer limits: 8 KiB, 64 KiB, 1 MiB.`,
      board: 'parsing',
    },
    {
      ...common,
      name: 'TailfinUncertainWrite',
      expr: `${sum(level, q.increase('uncertain_writes', '30m', { hint: 'none' }))} > ${settings.uncertain_writes}`,
      for: '1m',
      severity: 'critical',
      summary: 'Calls may have changed something, and nothing proves whether they did.',
      description: `About {{ $value | humanize }} calls to ${SERVER_AT} ended in 30 minutes without proof of their outcome. First find the calls with tailfin explain and look at their destinations. Do not repeat them.`,
    },
    {
      ...common,
      name: 'TailfinUnsafeRetries',
      expr: `${sum(level, q.increase('findings', '30m', { rule: 'unsafe_retry' }))} > ${settings.unsafe_retries}`,
      for: '5m',
      severity: 'warning',
      summary: 'Clients repeat writes that may have been carried out.',
      description: `About {{ $value | humanize }} calls to ${SERVER_AT} were repeated in 30 minutes though the first attempt may have taken effect. First stop the automatic retry of tools/call in the client, then look for duplicates.`,
    },
    {
      ...common,
      name: 'TailfinRegimeCConfigured',
      expr: `${max(level, q.series('stream_regime', { regime: 'C' }))} == 1`,
      for: '15m',
      severity: 'warning',
      summary: 'The contract of an MCP server lets nobody tell a whole answer from a part.',
      description: `${SERVER_AT.replace('server', 'Server')} mandates no terminal message and has no self-delimiting payload (regime C = {{ $value | humanize }}). First ask its owner for a mandated terminal message; until then every close may be a cut.`,
      board: 'hidden',
    },
    {
      ...common,
      name: 'TailfinListDrift',
      expr: `${sum(level, q.increase('findings', '1h', { rule: 'list_drift' }))} > ${settings.list_drifts}`,
      for: '1m',
      severity: 'warning',
      summary: 'Instances of one MCP server offer different tools.',
      description: `Lists of ${SERVER_AT} differed by endpoint or client (about {{ $value | humanize }} times in an hour). First compare versions and configuration of its instances: a rollout may hang.`,
      board: 'protocol',
    },
    {
      ...common,
      name: 'TailfinCollateralBurst',
      expr: `${sum(level, q.increase('findings', '10m', { rule: ['collateral_failure', 'closed_client_call'] }))} > ${settings.collateral_failures}`,
      for: '1m',
      keepFiringFor,
      severity: 'warning',
      summary: 'One broken call takes others of its client with it.',
      description: `About {{ $value | humanize }} calls to ${SERVER_AT} failed in 10 minutes because another call of their client broke. First look for the one that broke, not for the many that fell.`,
      board: 'hidden',
    },
    {
      ...common,
      name: 'TailfinUndeliveredOperations',
      expr: `${sum([...level, 'rule'], q.increase('findings', '30m', { rule: UNDELIVERED }))} > ${settings.undelivered_operations}`,
      for: '5m',
      severity: 'warning',
      summary: 'Callers are never told how their calls ended, or are told the wrong thing.',
      description: `About {{ $value | humanize }} calls to ${SERVER_AT} in 30 minutes: {{ $labels.rule }}. First look the rule up in docs/findings.md: it says which side is at fault.`,
      board: 'hidden',
    },
  ];
}
