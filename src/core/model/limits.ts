/**
 * Every cap and every time span of the core. Sized for 500 exchanges/s with exact totals: a delivered operation is held 30 s
 * (15,000 at a time), an undelivered one 600 s (6,000 at 2 %). Past a cap the oldest entry is given up and counted in
 * `tailfin_state_evictions_total{store}`. Time spans are design section 3-6; all in milliseconds.
 */
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const LIMITS = {
  /** Lines longer than this many bytes are skipped in bounded memory. */
  maxLineBytes: 1024 * 1024,
  /** How far ahead of the wall clock an event may be in `run`. */
  maxFutureMs: 5 * MINUTE,

  /** parse and settle join a closed exchange this long: when it looked delivered / when it did not. */
  joinDeliveredMs: 30 * SECOND,
  joinUndeliveredMs: 600 * SECOND,
  /** The next attempt must open this long (inclusive) after the last undelivered one ended. */
  retryWindowMs: 120 * SECOND,
  /** A resume GET must open this long (inclusive) after the stream, or its last resume leg, ended. */
  resumeWindowMs: 60 * SECOND,
  /** An exchange that never closes. */
  expireResponseMs: 15 * MINUTE,
  expireListenMs: 24 * 60 * MINUTE,
  /** A parse or settle line that came before the first line of its exchange waits this long. */
  orphanMs: 30 * SECOND,
  /** A hole in `seq` may still be filled by a late line. */
  seqHoleMs: 30 * SECOND,
  /** An idle, caught-up source follows the wall clock after this. */
  idleSourceMs: 10 * SECOND,
  /** Memories about clients, sessions, contracts, carriers and writers: the longest life of an exchange. */
  memoryMs: 24 * 60 * MINUTE,
  /** Segments: a host that was idle for days is no new writer when it goes on. */
  segmentMemoryMs: 7 * 24 * 60 * MINUTE,
  /** A segment file without `end` line that was watched for so long without a sign of life: its writer is dead. */
  writerSilentMs: 10 * MINUTE,
  /** How often those are looked through. */
  sweepMs: MINUTE,
  /** Sliding window of the parse trend detectors and its step. */
  trendWindowMs: 30 * MINUTE,
  trendStepMs: MINUTE,

  openExchanges: 20_000,
  orphanLines: 10_000,
  /** Attempts that delivered at once: 30 s of them, even at 2,000 exchanges/s. */
  quietOperations: 65_536,
  /** Attempts that are open or failed, and those that followed. */
  operations: 40_000,
  /** A call that is repeated for ever becomes one operation per this many attempts. */
  attemptsPerOperation: 100,
  suspended: 5_000,
  /**
   * Ids of closed exchanges, two generations of this size: late lines must not be judged again. Forgetting is no eviction; ids of
   * failed exchanges stay as long as lines may come for them.
   */
  closedIds: 65_536,
  /** Of each kind of memory: sessions that were deleted, clients that were replaced, clients that report what callers are told. */
  clients: 2_000,
  cancels: 10_000,
  carriers: 10_000,
  contracts: 1_000,
  writers: 10_000,
  /** Writers of segment files, each with its newest one. */
  segments: 10_000,
  seqHoles: 4_096,
  /**
   * Lines of one writer that are told again when they come twice: this many at least, twice as many at most. A batch of 8 MiB of
   * real lines fits. Slots for all writers together, 16 bytes each: a full one takes 262,144.
   */
  recentLines: 98_304,
  recentSlots: 1_048_576,
  /** What a detector remembers of servers, endpoints, clients or streams, one entry each: one pod has tens of them. */
  patterns: 500,
  /** What it remembers of single calls that hung or were given up: two minutes of 500 exchanges/s at 2 %, and some. */
  troubledCalls: 2_000,
  /** Tools that have worked, of all servers. */
  workingTools: 1_000,
  /** Successful calls that a second, equal one is compared with, in two generations: two minutes of 500 per second in one. */
  successfulWrites: 131_072,
  /** Trend windows, one per server and payload kind. */
  trendServers: 200,

  /** Label values per metric family (design section 7); the rest is `_other`. */
  servers: 64,
  endpointsPerServer: 32,
  series: 10_000,
} as const;

/** What detectors remember: one that is full misses findings, never a count. */
export const FINDING_STORES = [
  'reporting_clients',
  'broken_clients',
  'client_breaks',
  'endpoint_bursts',
  'open_close_loops',
  'reconnect_loops',
  'periodic_cuts',
  'working_tools',
  'stalled_calls',
  'client_calls',
  'successful_writes',
  'told_callers',
  'lost_clients',
  'list_answers',
  'list_announcements',
  'listed_servers',
  'listed_places',
  'discover_probes',
  'dead_sessions',
  'error_answers',
  'amplification_windows',
] as const;
export type FindingStore = (typeof FINDING_STORES)[number];

export type StoreName =
  | 'open_exchanges'
  | 'orphan_lines'
  | 'operations'
  | 'quiet_operations'
  | 'counted_failures'
  | 'suspended'
  | 'closed_ids'
  | 'clients'
  | 'replaced_clients'
  | 'cancels'
  | 'carriers'
  | 'contracts'
  | 'writers'
  | 'segments'
  | 'seq_holes'
  | 'recent_lines'
  | 'trend_windows'
  | 'size_step_windows'
  | FindingStore;
