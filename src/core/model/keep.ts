/** Copies for keeping: a line may carry anything beside its declared fields, and what is kept must be bounded. */
import type { EventFields, WireEvent } from './event.ts';
import { FIELDS, type FieldName } from './fields.ts';

const NAMES = Object.keys(FIELDS) as FieldName[];

export function declaredFields(fields: EventFields): EventFields {
  const copy: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = fields[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

export const keepEvent = (event: WireEvent): WireEvent => ({ ...event, fields: declaredFields(event.fields) });
