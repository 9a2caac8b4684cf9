/**
 * One string object per name. Every line brings fresh copies of the same few names (server, client, tool): kept as they come they
 * would be most of what a held attempt weighs, and each look-up would hash them again.
 */
const CAP = 4096;
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

/** The engine keeps one string per property name, compares those by identity, and knows their hash. */
export const internalized = (text: string): string => Object.keys({ [text]: 0 })[0] as string;
