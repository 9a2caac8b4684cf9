/**
 * Copies for keeping, and records that are read back: an exchange's union of lines changes, and a test or tool may hand in more than the declared fields.
 */
import type { EventFields, WireEvent } from './event.ts';
import { type EventType, type FieldName, fieldsOf } from './fields.ts';
import { isOfExchange, recordFrom, SLOTS } from './record.ts';

function pick(fields: EventFields, names: readonly FieldName[], ofExchange: boolean): EventFields {
  const values: unknown[] = new Array(SLOTS.size).fill(undefined);
  for (const name of names) values[SLOTS.get(name) as number] = fields[name];
  return recordFrom(values, ofExchange);
}

/** What a line adds to the record of its exchange (LINE_FIELDS). */
export const pickFields = (fields: EventFields, names: readonly FieldName[]): EventFields => pick(fields, names, true);

export const keepEvent = (event: WireEvent): WireEvent => ({
  ...event,
  fields: pick(event.fields, fieldsOf(event.type), isOfExchange(event.type)),
});

/** An exchange, or an event that is kept. */
export interface FieldsHolder {
  fields: EventFields;
}

/**
 * Fields that were read back, as a record of this version. By name: an earlier one may have had others. Versions before 0.2 kept what was
 * known alone, as a list of names and values.
 */
export function reviveFields(holder: FieldsHolder): void {
  const read: object = holder.fields;
  const known = Array.isArray(read) ? pairs(read) : Object.entries(read);
  const values: unknown[] = new Array(SLOTS.size).fill(undefined);
  for (const [name, value] of known) {
    const slot = SLOTS.get(name as FieldName);
    if (slot !== undefined) values[slot] = value;
  }
  holder.fields = recordFrom(values, !('type' in holder) || isOfExchange(holder.type as EventType));
}

function* pairs(list: readonly unknown[]): Generator<readonly [unknown, unknown]> {
  for (let i = 0; i < list.length; i += 2) yield [list[i], list[i + 1]];
}
