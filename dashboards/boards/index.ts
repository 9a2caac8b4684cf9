/** The table of boards. A new board is a file beside this one and a line here and in names.ts. */
import type { MetricKey } from '../../src/core/measures/catalog.ts';
import type { Board } from '../board.ts';
import type { Queries } from '../queries.ts';
import type { Settings } from '../settings.ts';
import { hiddenBoard } from './hidden.ts';
import { parsingBoard } from './parsing.ts';
import { protocolBoard } from './protocol.ts';
import { retriesBoard } from './retries.ts';
import { streamsBoard } from './streams.ts';
import { tailfinBoard } from './tailfin.ts';

export const boards = (q: Queries, settings: Settings): readonly Board[] => [
  hiddenBoard(q),
  streamsBoard(q),
  retriesBoard(q),
  parsingBoard(q, settings),
  protocolBoard(q),
  tailfinBoard(q),
];

/** Metrics of the catalog that no board shows, with the reason. */
export const NOT_SHOWN: Readonly<Partial<Record<MetricKey, string>>> = {};
