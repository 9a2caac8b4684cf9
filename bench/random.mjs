/**
 * Seeded randomness: mulberry32, so that a seed names the same file on every machine and Node version. Not for secrets.
 * State is a counter of period 2^32: no two of the first 4 billion draws start from the same state.
 */

const HEX4 = Array.from({ length: 65536 }, (_, i) => i.toString(16).padStart(4, '0'));

export function createRandom(seed) {
  let state = seed >>> 0;
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return (x ^ (x >>> 14)) >>> 0;
  };
  const unit = () => bits() / 4294967296;
  const hex8 = () => {
    const x = bits();
    return HEX4[x >>> 16] + HEX4[x & 0xffff];
  };
  return {
    /** Uniform in [0, 1). */
    unit,
    /** Integer in [0, n). */
    below: (n) => Math.floor(unit() * n),
    chance: (p) => unit() < p,
    pick: (list) => list[Math.floor(unit() * list.length)],
    /** Between low and high, evenly over the orders of magnitude: many small values, a long tail. */
    logUniform: (low, high) => low * (high / low) ** unit(),
    /** Exponential with the given mean: the gaps of a Poisson process. */
    exponential: (mean) => -Math.log(1 - unit()) * mean,
    hex16: () => hex8() + hex8(),
    /** Looks like a version 4 UUID. */
    uuid() {
      const a = hex8();
      const b = hex8();
      const c = hex8();
      return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${hex8()}`;
    },
  };
}

/** Draws from [{weight, ...}] by weight. */
export function createWeighted(list, random) {
  const total = list.reduce((sum, item) => sum + item.weight, 0);
  let below = 0;
  const steps = list.map((item) => {
    below += item.weight / total;
    return { below, item };
  });
  return () => {
    const u = random.unit();
    return (steps.find((step) => u < step.below) ?? steps[steps.length - 1]).item;
  };
}
