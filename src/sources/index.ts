/** The kinds of source that a configuration can name. A new kind is a file that creates a `Source`, and one line here. */
import { createFileTail } from './file-tail.ts';

export const SOURCES = {
  file: { doc: 'NDJSON files that match globs, followed through rotation and truncation', create: createFileTail },
} as const;

export type SourceKind = keyof typeof SOURCES;
