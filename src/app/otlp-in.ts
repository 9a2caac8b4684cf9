/**
 * The OTLP source of a configuration, and the routes by which the loopback listener reaches it. It is loaded only where it is asked
 * for: nothing else may import it but by `import()`.
 */
import express from 'express';
import type { HttpIngest } from '../sources/http-ingest.ts';
import { createOtlpProtocol } from '../sources/otlp/protocol.ts';
import { LOGS, TRACES } from '../sources/otlp/signals.ts';
import type { Digest } from '../sources/otlp/span-line.ts';
import { createDigester } from '../tap/digest.ts';
import { readKeyFile } from '../tap/key.ts';
import type { Config } from './config-keys.ts';
import { ConfigError } from './config-merge.ts';
import { reasonOf } from './exit.ts';
import { createHttpSource, type HttpSourceNeeds } from './ingest.ts';
import type { LocalPart } from './local-app.ts';

/** The `source` label of what comes by OTLP, and the host and writer of what names none. */
export const OTLP = 'otlp';
const PATHS = { '/v1/traces': TRACES, '/v1/logs': LOGS } as const;

/** @throws ConfigError when the token or the key cannot be had. */
export function createOtlpIn(
  config: Config,
  needs: HttpSourceNeeds,
): { readonly source: HttpIngest; readonly part: LocalPart } {
  const digest = digestOf(config.ingestKeyFile);
  const source = createHttpSource(OTLP, config, needs);
  const routes = express.Router();
  for (const [path, signal] of Object.entries(PATHS)) {
    const protocol = createOtlpProtocol(signal, digest);
    routes.all(path, (request, response) => source.handle(request, response, protocol));
  }
  return { source, part: { paths: Object.keys(PATHS), routes } };
}

function digestOf(file: string | undefined): Digest {
  if (file === undefined) return undefined;
  try {
    return createDigester(readKeyFile(file)).digest;
  } catch (error) {
    throw new ConfigError([`ingest.key_file: cannot read ${file}: ${reasonOf(error)}`]);
  }
}
