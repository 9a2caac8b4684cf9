/** Copies for keeping: an exchange's union of lines changes, and a test or tool may hand in more than the declared fields. */
import type { EventFields, WireEvent } from './event.ts';
import { FIELDS, type FieldName } from './fields.ts';
import { recordFrom } from './record.ts';

const NAMES = Object.keys(FIELDS) as FieldName[];

export const declaredFields = (fields: EventFields): EventFields => recordFrom(NAMES.map((name) => fields[name]));

export const keepEvent = (event: WireEvent): WireEvent => ({ ...event, fields: declaredFields(event.fields) });
