/**
 * Which exposition format an Accept header asks for. Text 0.0.4 unless OpenMetrics 1.0.0 is preferred; never a refusal, since a
 * scraper that names neither still reads text (as other Prometheus exporters answer).
 */
export const FORMATS = ['text', 'openmetrics'] as const;
export type Format = (typeof FORMATS)[number];

interface Offer {
  readonly type: string;
  readonly version: string;
}
const OFFERS: Readonly<Record<Format, Offer>> = {
  text: { type: 'text/plain', version: '0.0.4' },
  openmetrics: { type: 'application/openmetrics-text', version: '1.0.0' },
};

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
}

/** A broken weight counts as 0, so that it wins nothing. */
function qualityOf(text: string | undefined): number {
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

function readRange(text: string): Range {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const each of rest) {
    const [name = '', value = ''] = each.split('=', 2);
    parameters.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return { type: type.toLowerCase(), version: parameters.get('version'), quality: qualityOf(parameters.get('q')) };
}

/** How closely a range names the offer: 0 not at all, 4 by type and version. Other parameters (charset, escaping) do not decide. */
function closeness({ type, version }: Range, offer: Offer): number {
  if (type === '*/*') return 1;
  if (type === `${offer.type.split('/')[0]}/*`) return 2;
  if (type !== offer.type) return 0;
  if (version === undefined) return 3;
  return version === offer.version ? 4 : 0;
}

/** The closest range decides its quality, as HTTP says. */
function preference(ranges: readonly Range[], offer: Offer): { quality: number; close: number } {
  let best = { quality: 0, close: 0 };
  for (const range of ranges) {
    const close = closeness(range, offer);
    if (close > best.close) best = { quality: range.quality, close };
  }
  return best;
}

export function chooseFormat(accept: string | undefined): Format {
  const ranges = (accept ?? '').split(',').map(readRange);
  const text = preference(ranges, OFFERS.text);
  const openMetrics = preference(ranges, OFFERS.openmetrics);
  if (openMetrics.quality !== text.quality) return openMetrics.quality > text.quality ? 'openmetrics' : 'text';
  // Equal weights: named beats covered by a wildcard, else the default.
  return openMetrics.quality > 0 && openMetrics.close >= 3 && text.close < 3 ? 'openmetrics' : 'text';
}
