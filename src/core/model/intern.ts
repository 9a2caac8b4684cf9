/**
 * One string object per name. Every line brings fresh copies of the same few names (server, client, tool): kept as they come they
 * would be most of what a held attempt weighs, and each look-up would hash them again.
 */
const CAP = 1024;
const known = new Map<string, string>();

export function intern(text: string): string {
  const same = known.get(text);
  if (same !== undefined) return same;
  // Cleared whole rather than aged: a flood of names only costs the copies again.
  if (known.size >= CAP) known.clear();
  const own = internalized(text);
  known.set(own, own);
  return own;
}

/** Without a prototype: a plain dictionary, so that names that come and go leave nothing behind. */
const names: Record<string, true> = Object.create(null);

/** The engine keeps one string per property name, compares those by identity, and knows their hash. */
export function internalized(text: string): string {
  names[text] = true;
  const own = Object.keys(names)[0] as string;
  delete names[text];
  return own;
}

/**
 * Two names as one flat text of its own. What a template puts together is a tree of its parts, which keeps alive whatever they were cut
 * from; made the engine's own it would lie among what lives for long, though most names of a flood never come again.
 */
export const joined = (a: string, between: string, b: string): string => [a, b].join(between);
