/** Copies for keeping: a line may carry anything beside its declared fields, and what is kept must be bounded. */
import type { EventFields, WireEvent } from './event.ts';
import { type FieldName, fieldsOf } from './fields.ts';

export function pickFields(fields: EventFields, names: readonly FieldName[]): EventFields {
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

export const keepEvent = (event: WireEvent): WireEvent => ({
  ...event,
  fields: pickFields(event.fields, fieldsOf(event.type)),
});
