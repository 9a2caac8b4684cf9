/** Reads the text exposition format as far as the demo needs it: samples with their labels. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseExposition(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const parts = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (parts?.[1] === undefined) continue;
    const pairs = [...(parts[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const labels = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
    samples.push({ name: parts[1], labels, value: Number(parts[3]) });
  }
  return samples;
}

/** The sum over all series of a metric that have these label values. */
export const sum = (samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number =>
  samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((total, { value }) => total + value, 0);

/** Series of a counter that differ, as `labels: first, second`. */
export function differences(name: string, first: readonly Sample[], second: readonly Sample[]): string[] {
  const [a, b] = [valuesBySeries(name, first), valuesBySeries(name, second)];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((series) => {
    const [left, right] = [a.get(series) ?? 0, b.get(series) ?? 0];
    return left === right ? [] : [`${name}${series}: ${left}, ${right}`];
  });
}

const valuesBySeries = (name: string, samples: readonly Sample[]): Map<string, number> =>
  new Map(
    samples
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [JSON.stringify(Object.entries(labels).sort()), value]),
  );
