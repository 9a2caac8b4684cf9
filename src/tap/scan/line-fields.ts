/** The fields of one event line, without its envelope. Types only. */
import type { EventFields } from '../../core/model/event.ts';

export type LineFields = Partial<EventFields>;
