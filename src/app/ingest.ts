/** The HTTP source of a configuration, and the route by which the loopback listener reaches it. */
import express from 'express';
import { LIMITS } from '../core/model/limits.ts';
import type { Log } from '../sources/fault-list.ts';
import type { HttpIngest } from '../sources/http-ingest.ts';
import { SOURCES } from '../sources/index.ts';
import { readTokenFile } from '../sources/ingest-token.ts';
import type { Config } from './config-keys.ts';
import { ConfigError } from './config-merge.ts';
import type { LocalPart } from './local-app.ts';

/** Name of the HTTP source: the `source` label, and the host and writer of lines that name none. */
export const HTTP = 'http';
const PATH = '/v1/events';

export interface HttpSourceNeeds {
  readonly log: Log;
  readonly now: () => number;
  readonly stored: (() => Promise<boolean>) | undefined;
}

/** A source that takes batches by HTTP, under a name of its own. @throws ConfigError when the token cannot be had. */
export function createHttpSource(name: string, config: Config, needs: HttpSourceNeeds): HttpIngest {
  return SOURCES.http.create({
    name,
    host: config.host || name,
    token: config.ingestTokenFile === undefined ? undefined : readToken(config.ingestTokenFile),
    maxLineBytes: LIMITS.maxLineBytes,
    ...needs,
  });
}

/** undefined where it is not asked for. */
export const createIngest = (config: Config, needs: HttpSourceNeeds): HttpIngest | undefined =>
  config.ingest ? createHttpSource(HTTP, config, needs) : undefined;

function readToken(file: string): string {
  const read = readTokenFile(file);
  if ('fault' in read) throw new ConfigError([`ingest.token_file: ${read.fault}`]);
  return read.token;
}

export function ingestPart(ingest: HttpIngest): LocalPart {
  const routes = express.Router();
  routes.all(PATH, (request, response) => ingest.handle(request, response));
  return { paths: [PATH], routes };
}
