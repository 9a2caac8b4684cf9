/** Reads Prometheus exposition text and holds it against a tally (traffic.mjs). */

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** [{name, labels, value}] of a text exposition. */
export function parseExposition(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = SAMPLE.exec(line);
    if (match === null) throw new Error(`not a sample line: ${line}`);
    const [, name, inner = '', value] = match;
    const labels = Object.fromEntries(
      [...inner.matchAll(LABEL)].map(([, label, raw]) => [
        label,
        raw.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
      ]),
    );
    samples.push({ name, labels, value: Number(value) });
  }
  return samples;
}

/** Sum over every series of a metric that matches. */
export function total(samples, name, where = {}) {
  let sum = 0;
  for (const sample of samples)
    if (sample.name === name && Object.entries(where).every(([label, value]) => sample.labels[label] === value))
      sum += sample.value;
  return sum;
}

function sumBy(samples, name, labels) {
  const sums = {};
  for (const sample of samples) {
    if (sample.name !== name || sample.value === 0) continue;
    const key = labels.map((label) => sample.labels[label]).join(' ');
    sums[key] = (sums[key] ?? 0) + sample.value;
  }
  return sums;
}

/** Which metric, summed by which labels, equals which table of the tally. */
const EQUAL = [
  ['tailfin_stream_closes_total', ['server', 'outcome', 'cause'], 'closes'],
  ['tailfin_endpoint_closes_total', ['server', 'outcome'], 'judged'],
  ['tailfin_exchange_failures_total', ['server'], 'abandoned'],
  ['tailfin_operations_total', ['server', 'method', 'result'], 'operations'],
  ['tailfin_retries_total', ['server', 'after', 'endpoint', 'outcome'], 'retries'],
];
/** Anything here means that something was lost, refused or given up. */
const ZERO = [
  'tailfin_events_rejected_total',
  'tailfin_events_missing_total',
  'tailfin_events_late_total',
  'tailfin_events_invalid_utf8_total',
  'tailfin_exchanges_expired_total',
  'tailfin_state_evictions_total',
  'tailfin_label_overflow_total',
];

/** What differs, one sentence each; empty: the exposition says exactly what the generator made. */
export function differences(samples, tally) {
  const found = [];
  const expect = (what, measured, expected) => {
    if (measured !== expected) found.push(`${what}: ${measured}, expected ${expected}`);
  };
  expect('tailfin_events_total{type="close"}', total(samples, 'tailfin_events_total', { type: 'close' }), tally.lines);
  for (const [metric, labels, table] of EQUAL) {
    const measured = sumBy(samples, metric, labels);
    const expected = tally[table];
    for (const key of new Set([...Object.keys(measured), ...Object.keys(expected)]))
      expect(`${metric} by ${labels.join(' ')}: ${key}`, measured[key] ?? 0, expected[key] ?? 0);
  }
  for (const metric of ZERO) expect(metric, total(samples, metric), 0);
  return found;
}
