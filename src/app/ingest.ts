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

/** undefined where it is not asked for. @throws ConfigError when the token cannot be had. */
export function createIngest(
  config: Config,
  log: Log,
  now: () => number,
  stored?: () => Promise<boolean>,
): HttpIngest | undefined {
  if (!config.ingest) return undefined;
  return SOURCES.http.create({
    name: HTTP,
    host: config.host || HTTP,
    token: config.ingestTokenFile === undefined ? undefined : readToken(config.ingestTokenFile),
    maxLineBytes: LIMITS.maxLineBytes,
    log,
    now,
    stored,
  });
}

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
