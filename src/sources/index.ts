/** The kinds of source that a configuration can name. A new kind is a file that creates a `Source`, and one line here. */
import { createFileTail } from './file-tail.ts';
import { createHttpIngest } from './http-ingest.ts';

export const SOURCES = {
  file: { doc: 'NDJSON files that match globs, followed through rotation and truncation', create: createFileTail },
  http: { doc: 'batches of lines by POST /v1/events, accepted or refused whole', create: createHttpIngest },
} as const;

export type SourceKind = keyof typeof SOURCES;
