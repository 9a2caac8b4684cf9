/**
 * Every configuration key, as one table. The loader, `config print`, `docs/config.md`, the command line's flags and the type of
 * `Config` all derive from it: a key that is not here does not exist, and a key that nothing uses must not be here.
 */
import { MAX_ID_BYTES } from '../core/model/fields.ts';
import { THRESHOLDS, type ThresholdName, UNIT_MAX } from '../core/model/thresholds.ts';
import { OTEL_KEYS } from './config-keys-otel.ts';

export interface KeySpec {
  /** Where it stands in the file; a dot is one level of nesting. */
  readonly path: string;
  /** string: text of at most 128 bytes; file: a path; count: a whole number; number: one above 0; share: one from 0 to 1; url: http or https; glob: one pattern over names; globs, paths: one pattern or a list of them. */
  readonly type:
    | 'string'
    | 'file'
    | 'count'
    | 'number'
    | 'share'
    | 'enum'
    | 'boolean'
    | 'listen'
    | 'url'
    | 'glob'
    | 'globs'
    | 'paths';
  /** The closed words of an enum. */
  readonly values?: readonly string[];
  /** Least and greatest value of a count. */
  readonly range?: readonly [least: number, greatest: number];
  /** As it would stand in the file. Without one the key is unset; an empty value is allowed only where it is the default. */
  readonly default?: boolean | string | number | readonly string[];
  /** Of a number, which is above 0. */
  readonly max?: number;
  readonly whole?: boolean;
  readonly env?: string;
  /** A variable of the OpenTelemetry specification that says the same: for `run` it counts where nothing else sets the key. */
  readonly standardEnv?: string;
  readonly flag?: string;
  /** One sentence or two, with units where there are any. */
  readonly doc: string;
}

type ThresholdSpec = KeySpec & { readonly type: 'number'; readonly default: number };
/** One key for each threshold of a finding. */
const THRESHOLD_KEYS = Object.fromEntries(
  Object.entries(THRESHOLDS).map(([name, { value, unit, doc, ...own }]) => {
    const max = 'max' in own ? own.max : UNIT_MAX[unit];
    const spec = { path: `thresholds.${name}`, type: 'number', default: value, max, whole: unit !== 'ratio', doc };
    return [`thresholds.${name}`, spec];
  }),
) as { readonly [Name in ThresholdName as `thresholds.${Name}`]: ThresholdSpec };

export const KEYS = {
  events: {
    path: 'events',
    type: 'paths',
    default: ['/var/run/tailfin/events/*.ndjson'],
    env: 'TAILFIN_EVENTS',
    flag: '--events',
    doc: 'Event files to follow: one glob over paths or a list of them. Files that appear later are picked up.',
  },
  from: {
    path: 'from',
    type: 'enum',
    values: ['beginning', 'end'],
    default: 'beginning',
    env: 'TAILFIN_FROM',
    flag: '--from',
    doc: 'Where reading starts in the files that are there at start; files that appear later are read whole.',
  },
  removeReadSegments: {
    path: 'remove_read_segments',
    type: 'enum',
    values: ['auto', 'always', 'never'],
    default: 'auto',
    env: 'TAILFIN_REMOVE_READ_SEGMENTS',
    flag: '--remove-read-segments',
    doc: "Remove a tap's segment 10 min after its end (15 min after its last sign of life) when it was read whole. auto: where `events` is left at its default. Other files are never removed.",
  },
  stateDir: {
    path: 'state_dir',
    type: 'file',
    default: '',
    env: 'TAILFIN_STATE_DIR',
    flag: '--state-dir',
    doc: 'Folder of the checkpoint, on a volume that outlives the container: a restart goes on where the last one ended. Empty: none is kept, and a restart reads everything again. One running `tailfin` per folder.',
  },
  scrapeIntervalSeconds: {
    path: 'scrape.interval_seconds',
    type: 'count',
    range: [0, 3600],
    default: 30,
    env: 'TAILFIN_SCRAPE_INTERVAL_SECONDS',
    flag: '--scrape-interval-seconds',
    doc: 'The longest interval of the scrapers. With `state_dir` a new series shows 0 for twice as long before it shows its value, so that `increase()` sees its first event. 0: it shows its value at once.',
  },
  scrapeLastSeconds: {
    path: 'scrape.last_seconds',
    type: 'count',
    range: [0, 300],
    default: 20,
    env: 'TAILFIN_SCRAPE_LAST_SECONDS',
    flag: '--scrape-last-seconds',
    doc: 'How long a stop by SIGTERM waits at most for one more scrape, if there were any before and numbers have moved since. The grace period of the pod must be 5 s longer.',
  },
  host: {
    path: 'host',
    type: 'string',
    default: '',
    env: 'TAILFIN_HOST',
    flag: '--host',
    doc: 'Host of the events that name none, at most 128 bytes. Empty: the name of the source, `files`.',
  },
  metricsListen: {
    path: 'metrics_listen',
    type: 'listen',
    default: '0.0.0.0:19640',
    env: 'TAILFIN_METRICS_LISTEN',
    flag: '--metrics-listen',
    doc: 'Address and TCP port of `/metrics`, `/healthz` and `/readyz`. Port 0 takes any free port.',
  },
  localListen: {
    path: 'local_listen',
    type: 'listen',
    default: '127.0.0.1:19641',
    env: 'TAILFIN_LOCAL_LISTEN',
    flag: '--local-listen',
    doc: 'Address and TCP port of the pages and interfaces that are for this pod alone. Where the default is taken, `run` says so and goes on without them.',
  },
  ingest: {
    path: 'ingest.enabled',
    type: 'boolean',
    default: false,
    env: 'TAILFIN_INGEST',
    flag: '--ingest',
    doc: 'Take batches of events by `POST /v1/events` on `local_listen`, which must then be had. See docs/ingest.md.',
  },
  ingestTokenFile: {
    path: 'ingest.token_file',
    type: 'file',
    env: 'TAILFIN_INGEST_TOKEN_FILE',
    flag: '--ingest-token-file',
    doc: 'File that holds the bearer token which senders must show, read once at start. Required where `local_listen` is not a loopback address.',
  },
  ingestOtlp: {
    path: 'ingest.otlp',
    type: 'boolean',
    default: false,
    env: 'TAILFIN_INGEST_OTLP',
    flag: '--ingest-otlp',
    doc: 'Take spans and logs of MCP clients by OTLP/HTTP, `POST /v1/traces` and `POST /v1/logs` on `local_listen`, which must then be had; `ingest.token_file` holds for it too. See docs/opentelemetry-in.md.',
  },
  ingestKeyFile: {
    path: 'ingest.key_file',
    type: 'file',
    env: 'TAILFIN_INGEST_KEY_FILE',
    flag: '--ingest-key-file',
    doc: 'File with the key (16 bytes or more) under which `mcp.session.id` of spans becomes a digest, read once at start: the one of the taps. Unset: session ids are dropped.',
  },
  logLevel: {
    path: 'log_level',
    type: 'enum',
    values: ['debug', 'info', 'warn', 'error'],
    default: 'info',
    env: 'TAILFIN_LOG_LEVEL',
    flag: '--log-level',
    doc: 'The least severe log lines that are still written to stderr.',
  },
  evidenceFile: {
    path: 'evidence.file',
    type: 'file',
    default: '',
    env: 'TAILFIN_EVIDENCE_FILE',
    flag: '--evidence-file',
    doc: 'Where evidence records go, one JSON line each: a file, or `-` for stdout. Empty: only the last 500 are kept, at `/api/evidence`. A name that `events` fits is refused.',
  },
  evidenceFileBytes: {
    path: 'evidence.file_bytes',
    type: 'count',
    range: [128 * 1024, 2 ** 40],
    default: 16 * 1024 * 1024,
    env: 'TAILFIN_EVIDENCE_FILE_BYTES',
    flag: '--evidence-file-bytes',
    doc: 'The evidence file is renamed to FILE.1 (that to FILE.2 ...) before it would be larger.',
  },
  evidenceOldFiles: {
    path: 'evidence.old_files',
    type: 'count',
    range: [0, 100],
    default: 4,
    env: 'TAILFIN_EVIDENCE_OLD_FILES',
    flag: '--evidence-old-files',
    doc: 'How many renamed evidence files are kept: all together take at most (old_files + 1) * file_bytes.',
  },
  evidenceMaxPerSecond: {
    path: 'evidence.max_per_second',
    type: 'count',
    range: [1, 10_000],
    default: 50,
    env: 'TAILFIN_EVIDENCE_MAX_PER_SECOND',
    flag: '--evidence-max-per-second',
    doc: 'Evidence records made per second on average; ten times as many may come at once. Past that the first of each kind in a second is still made, the rest is counted in `tailfin_evidence_suppressed_total`.',
  },
  ...OTEL_KEYS,
  policyCutMid: {
    path: 'policy.cut_mid',
    type: 'enum',
    values: ['ambiguous', 'abandoned'],
    default: 'ambiguous',
    env: 'TAILFIN_POLICY_CUT_MID',
    flag: '--policy-cut-mid',
    doc: 'Verdict on a stream that ended cleanly in the middle of an SSE event or of its JSON, without any other proof.',
  },
  ...THRESHOLD_KEYS,
} as const satisfies Record<string, KeySpec>;

/** The keys below `servers.NAME`: what only the operator can state about one server. The file alone can set them. */
export const SERVER_KEYS = {
  match: {
    path: 'match',
    type: 'glob',
    doc: 'Events whose `server` fits this glob belong to NAME, which becomes their `server` label. Unset: NAME itself, to the letter.',
  },
  endpoints: {
    path: 'endpoints',
    type: 'enum',
    values: ['instance', 'virtual'],
    doc: 'Does one host:port mean one instance, or may it hide many? Unset: an IP address is an instance, a DNS name is not.',
  },
  sentinel: {
    path: 'sentinel',
    type: 'enum',
    values: ['mandated', 'optional'],
    doc: 'Must every response stream end with its terminal message? Unset: as the server itself declares.',
  },
  selfDelimiting: {
    path: 'self_delimiting',
    type: 'boolean',
    doc: 'Do the payloads prove their own completeness, as one JSON document does? Unset: as the server itself declares.',
  },
  sticky: {
    path: 'sticky',
    type: 'boolean',
    doc: 'Does discovery stay with one instance for a logical request? It changes no verdict: that an instance answers proves nothing about an earlier attempt.',
  },
  readOnlyTools: {
    path: 'read_only_tools',
    type: 'globs',
    default: [],
    doc: 'Tools confirmed to be read-only, as globs: repeating them is safe. A mere annotation of the tool stays a hint.',
  },
} as const satisfies Record<string, KeySpec>;

export interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

type Typed<S extends KeySpec> = S extends { readonly values: readonly (infer Word)[] }
  ? Word
  : S['type'] extends 'boolean'
    ? boolean
    : S['type'] extends 'count' | 'number' | 'share'
      ? number
      : S['type'] extends 'listen'
        ? ListenAddress
        : S['type'] extends 'globs' | 'paths'
          ? readonly string[]
          : string;
type ValueOf<S extends KeySpec> = 'default' extends keyof S ? Typed<S> : Typed<S> | undefined;

/** Each key's value under the field name that `KEYS` gives it, which is also commander's name of the flag. */
type Settings = { readonly [K in keyof typeof KEYS]: ValueOf<(typeof KEYS)[K]> };
type ServerSettings = { readonly [K in keyof typeof SERVER_KEYS]: ValueOf<(typeof SERVER_KEYS)[K]> };

export type ServerConfig = { readonly name: string } & ServerSettings;

export interface Config extends Settings {
  /** In the order of the file, which decides between globs. */
  readonly servers: readonly ServerConfig[];
  /** Where each value comes from, by its path (`policy.cut_mid`, `servers.NAME.match`): `default`, `file tailfin.yaml:3` ... */
  readonly origins: Readonly<Record<string, string>>;
}

/** `servers.NAME.key` as messages and origins write it: a NAME with dots or the like stands in quotes. */
export function serverPath(name: string, key?: string): string {
  const short = name.length > MAX_ID_BYTES ? `${name.slice(0, 64)}...` : name;
  const plain = /^[\w-]+$/.test(short) ? short : JSON.stringify(short);
  return key === undefined ? `servers.${plain}` : `servers.${plain}.${key}`;
}

/** HOST:PORT as the configuration, a URL or a log line writes it. */
export function formatListen({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
