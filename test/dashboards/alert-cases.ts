/**
 * For every alert: series that fire it, with the value it must name; a time at which its condition holds but not for long enough; a time
 * at which it is over; and series that look alike and must not fire it. One sample a minute, times in minutes; a value holds from its
 * place on. `0x10 3x60`: eleven samples of 0 (minutes 0 to 10), then 3.
 */
import { type AlertCase, SELF_CASES } from './alert-cases-self.ts';

const SHOP = 'job="tailfin", namespace="shop", server="inventory"';
const closes = (outcome: string, pod = 'a'): string =>
  `tailfin_stream_closes_total{${SHOP}, pod="${pod}", stream="response", outcome="${outcome}"}`;
const operations = (result: string): string => `tailfin_operations_total{${SHOP}, pod="a", result="${result}"}`;
const finding = (rule: string, pod = 'a'): string => `tailfin_findings_total{${SHOP}, pod="${pod}", rule="${rule}"}`;
const trend = (sum: string, result: string): string =>
  `tailfin_length_trend_${sum}_total{${SHOP}, pod="a", of="result", result="${result}"}`;
const AT_SERVER = { namespace: 'shop', server: 'inventory' };
const LOW_TRAFFIC = {
  why: 'low traffic: one of two closes',
  series: { [closes('clean')]: '0x5 1x900', [closes('ambiguous')]: '0x5 1x900' },
  at: [8, 30, 100, 300, 600],
};
/** A finding of its own rule is there, but not enough of it or not in time; others are. */
const others = (rule: string, mine = '0x300') => ({
  [finding(rule)]: mine,
  [finding('late_error_after_terminal')]: '0+5x300',
  [finding(rule, 'b')]: '9x60 0x240',
});

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'TailfinAmbiguousCloseBurnFast',
    // Two pods count as one server: 5 of 105 a minute for 20 minutes.
    series: {
      [closes('clean')]: '0+50x300',
      [closes('clean', 'b')]: '0+50x300',
      [closes('ambiguous')]: '0x10 1+5x19 100x300',
    },
    labels: { ...AT_SERVER, severity: 'critical', long: '1h', short: '5m' },
    value: '2.248%',
    notBefore: 14,
    fires: 20,
    resolved: 100,
    quiet: LOW_TRAFFIC,
  },
  {
    alert: 'TailfinAmbiguousCloseBurnFast',
    // 1 % for an hour: too little for the quick one, six times the budget all the same.
    series: { [closes('clean')]: '0+100x300', [closes('ambiguous')]: '0+1x60 60x300' },
    labels: { ...AT_SERVER, severity: 'critical', long: '6h', short: '30m' },
    value: '0.9901%',
    notBefore: 16,
    fires: 30,
    resolved: 120,
    quiet: {
      why: 'within the budget: one of two thousand',
      series: { [closes('clean')]: '0+2000x900', [closes('ambiguous')]: '0+1x900' },
      at: [30, 300, 900],
    },
  },
  {
    alert: 'TailfinAmbiguousCloseBurnSlow',
    series: { [closes('clean')]: '0+100x900', [closes('ambiguous')]: '0+0.5x100 50x800' },
    labels: { ...AT_SERVER, severity: 'warning', long: '1d', short: '2h' },
    value: '0.4975%',
    notBefore: 60,
    fires: 90,
    resolved: 480,
    quiet: LOW_TRAFFIC,
  },
  {
    alert: 'TailfinAmbiguousCloseBurnSlow',
    series: { [closes('clean')]: '0+100x900', [closes('ambiguous')]: '0+0.2x300 60x600' },
    labels: { ...AT_SERVER, severity: 'warning', long: '3d', short: '6h' },
    value: '0.1996%',
    notBefore: 180,
    fires: 240,
    resolved: 700,
    quiet: {
      why: 'over long ago',
      series: { [closes('clean')]: '0+100x900', [closes('ambiguous')]: '30x900' },
      at: [400, 900],
    },
  },
  {
    alert: 'TailfinMaskedByRotation',
    series: { [operations('first_try')]: '0+10x300', [operations('masked_rotated')]: '0+1x40 40x260' },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '9.091%',
    notBefore: 14,
    fires: 30,
    resolved: 130,
    quiet: {
      why: 'low traffic: three of six; and another server where the same endpoint answers',
      series: {
        [operations('first_try')]: '0x5 3x200',
        [operations('masked_rotated')]: '0x5 3x200',
        'tailfin_operations_total{job="tailfin", namespace="shop", pod="a", server="orders", result="first_try"}':
          '0+10x200',
        'tailfin_operations_total{job="tailfin", namespace="shop", pod="a", server="orders", result="masked"}':
          '0+9x200',
      },
      at: [20, 40, 100],
    },
  },
  {
    alert: 'TailfinHiddenFailures',
    // Behind one name, so that nobody knows whether the endpoint was another one: no masked_rotated among them.
    series: {
      [operations('first_try')]: '0+9x300',
      [operations('masked_unknown')]: '0x10 1+1x39 40x260',
      [operations('unproven')]: '0x300',
    },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '8.163%',
    notBefore: 44,
    fires: 50,
    resolved: 140,
    quiet: {
      why: 'low traffic: half of forty; and every error is one that callers see',
      series: {
        [operations('first_try')]: '0x5 20x200',
        [operations('masked_unknown')]: '0x5 20x200',
        'tailfin_operations_total{job="tailfin", namespace="shop", pod="a", server="orders", result="first_try"}':
          '0+10x200',
        'tailfin_operations_total{job="tailfin", namespace="shop", pod="a", server="orders", result="surfaced"}':
          '0+9x200',
      },
      at: [20, 40, 100],
    },
  },
  {
    alert: 'TailfinLengthCorrelatedParseFailures',
    // Ten a minute parse, half of them 1 KiB and half 64 KiB; one of 64 KiB fails: r = 30 / sqrt(10800), z = r * sqrt(n).
    series: {
      [trend('samples', 'ok')]: '0+10x40 400x200',
      [trend('log2_bytes', 'ok')]: '0+130x40 5200x200',
      [trend('log2_bytes_squared', 'ok')]: '0+1780x40 71200x200',
      [trend('samples', 'failed')]: '0+1x40 40x200',
      [trend('log2_bytes', 'failed')]: '0+16x40 640x200',
      [trend('log2_bytes_squared', 'failed')]: '0+256x40 10240x200',
    },
    labels: { ...AT_SERVER, severity: 'warning', of: 'result' },
    value: '5.664',
    notBefore: 25,
    fires: 35,
    resolved: 120,
    quiet: {
      why: 'nine failures, all of them long',
      series: {
        [trend('samples', 'ok')]: '0+10x200',
        [trend('log2_bytes', 'ok')]: '0+130x200',
        [trend('log2_bytes_squared', 'ok')]: '0+1780x200',
        [trend('samples', 'failed')]: '0x5 9x195',
        [trend('log2_bytes', 'failed')]: '0x5 144x195',
        [trend('log2_bytes_squared', 'failed')]: '0x5 2304x195',
      },
      at: [20, 40, 60],
    },
  },
  {
    alert: 'TailfinHardSizeStep',
    series: { [finding('parse_failure_size_step')]: '0x10 1x200' },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '1',
    notBefore: 11,
    fires: 13,
    resolved: 80,
    quiet: { why: 'other findings, and a restart', series: others('parse_failure_size_step'), at: [20, 61, 70, 100] },
  },
  {
    alert: 'TailfinUncertainWrite',
    series: { [`tailfin_uncertain_writes_total{${SHOP}, pod="a", hint="none"}`]: '0x10 2x200' },
    labels: { ...AT_SERVER, severity: 'critical' },
    value: '2',
    notBefore: 11,
    fires: 13,
    resolved: 50,
    quiet: {
      why: 'the tool claims to be read-only or idempotent',
      series: {
        [`tailfin_uncertain_writes_total{${SHOP}, pod="a", hint="none"}`]: '0x200',
        [`tailfin_uncertain_writes_total{${SHOP}, pod="a", hint="declared"}`]: '0+3x200',
      },
      at: [13, 60],
    },
  },
  {
    alert: 'TailfinUnsafeRetries',
    series: { [finding('unsafe_retry')]: '0x5 4x20 4x100', [finding('unsafe_retry', 'b')]: '0x5 4x120' },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '8',
    notBefore: 9,
    fires: 13,
    resolved: 45,
    quiet: {
      why: 'low traffic: five in half an hour',
      series: others('unsafe_retry', '0x5 5x200'),
      at: [15, 30, 61, 70],
    },
  },
  {
    alert: 'TailfinRegimeCConfigured',
    series: {
      [`tailfin_stream_regime{${SHOP}, pod="a", regime="C"}`]: '1x40 0x60',
      [`tailfin_stream_regime{${SHOP}, pod="b", regime="C"}`]: '0x100',
    },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '1',
    notBefore: 14,
    fires: 20,
    resolved: 45,
    quiet: {
      why: 'regimes A and B',
      series: {
        [`tailfin_stream_regime{${SHOP}, pod="a", regime="A"}`]: '1x100',
        [`tailfin_stream_regime{${SHOP}, pod="b", regime="B"}`]: '1x100',
        [`tailfin_stream_regime{${SHOP}, pod="b", regime="C"}`]: '0x100',
      },
      at: [20, 90],
    },
  },
  {
    alert: 'TailfinListDrift',
    series: { [finding('list_drift')]: '0x10 3x200' },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '3',
    notBefore: 11,
    fires: 13,
    resolved: 80,
    quiet: { why: 'other findings, and a restart', series: others('list_drift'), at: [20, 61, 70, 100] },
  },
  {
    alert: 'TailfinCollateralBurst',
    series: { [finding('collateral_failure')]: '0x10 6x100', [finding('closed_client_call')]: '0x10 3x100' },
    labels: { ...AT_SERVER, severity: 'warning' },
    value: '9',
    notBefore: 11,
    fires: 13,
    resolved: 35,
    quiet: {
      why: 'low traffic: one every four minutes',
      series: others('collateral_failure', '0x4 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x200'),
      at: [10, 20, 30, 40],
    },
  },
  {
    alert: 'TailfinUndeliveredOperations',
    series: { [finding('silent_hang')]: '0x10 5x100', [finding('never_answered')]: '0x10 2x100' },
    labels: { ...AT_SERVER, severity: 'warning', rule: 'silent_hang' },
    value: '5',
    notBefore: 14,
    fires: 18,
    resolved: 50,
    quiet: {
      why: 'low traffic: three in half an hour',
      series: others('silent_hang', '0x5 3x200'),
      at: [15, 30, 61, 70],
    },
  },
  ...SELF_CASES,
];
