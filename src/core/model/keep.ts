/** Copies for keeping: an exchange's union of lines changes, and a test or tool may hand in more than the declared fields. */
import type { EventFields, WireEvent } from './event.ts';
import { type FieldName, fieldsOf } from './fields.ts';
import { recordFrom, SLOTS } from './record.ts';

export function pickFields(fields: EventFields, names: readonly FieldName[]): EventFields {
  const values: unknown[] = new Array(SLOTS.size).fill(undefined);
  for (const name of names) values[SLOTS.get(name) as number] = fields[name];
  return recordFrom(values);
}

export const keepEvent = (event: WireEvent): WireEvent => ({
  ...event,
  fields: pickFields(event.fields, fieldsOf(event.type)),
});
