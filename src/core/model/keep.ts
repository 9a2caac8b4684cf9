/**
 * Copies for keeping, and records written down: an exchange's union of lines changes, and a test or tool may hand in more than the declared fields.
 */
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

/** An exchange, or an event that is kept. */
export interface FieldsHolder {
  fields: EventFields;
}
const NAMES: readonly FieldName[] = [...SLOTS.keys()];

/** Puts what is known alone, by slot, in the place of the fields; returns these. */
export function packFields(holder: FieldsHolder): EventFields {
  const { fields } = holder;
  const packed: unknown[] = [];
  for (let slot = 0; slot < NAMES.length; slot++) {
    const value = fields[NAMES[slot] as FieldName];
    if (value !== undefined) packed.push(NAMES[slot], value);
  }
  holder.fields = packed as unknown as EventFields;
  return fields;
}

/** By name: an earlier version may have had other slots. One that several hold is unpacked once. */
export function unpackFields(holder: FieldsHolder): void {
  const packed: unknown = holder.fields;
  if (!Array.isArray(packed)) return;
  const values: unknown[] = new Array(SLOTS.size).fill(undefined);
  for (let i = 0; i < packed.length; i += 2) {
    const slot = SLOTS.get(packed[i] as FieldName);
    if (slot !== undefined) values[slot] = packed[i + 1];
  }
  holder.fields = recordFrom(values);
}
