/** Types of tools.mjs. */
export interface Tools {
  readonly helm4: string;
  readonly helm3: string;
  readonly kubectl: string;
}
export function tools(): Promise<Tools>;
export function coreSchema(): Promise<{
  readonly definitions: { readonly Kinds: { readonly properties: Record<string, unknown> } };
}>;
