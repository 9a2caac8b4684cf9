/** Names that boards, rules and documents share: uids, titles, tags, variables. A uid is an address in other people's bookmarks: it never changes. */

export const BOARDS = {
  hidden: { uid: 'tailfin-hidden', title: 'Tailfin / What error rates hide' },
  streams: { uid: 'tailfin-streams', title: 'Tailfin / Streams' },
  retries: { uid: 'tailfin-retries', title: 'Tailfin / Retries and rotation' },
  parsing: { uid: 'tailfin-parsing', title: 'Tailfin / Parsing and length' },
  protocol: { uid: 'tailfin-protocol', title: 'Tailfin / Protocol and statelessness' },
  tailfin: { uid: 'tailfin-self', title: 'Tailfin / Tailfin itself' },
} as const;
export type BoardKey = keyof typeof BOARDS;

export const TAG = 'tailfin';

/** Below which labels a number can be told apart in rules: never the pod, so that a rollout makes no new series. */
export const LEVEL = ['cluster', 'namespace', 'server'] as const;

/** Another board with the time and all variables of this one. */
export const linkTo = (board: BoardKey): string => `/d/${BOARDS[board].uid}?\${__url_time_range}&\${__all_variables}`;
/** The same for one server: the one of the row. */
export const linkToServer = (board: BoardKey): string =>
  `/d/${BOARDS[board].uid}?\${__url_time_range}&\${datasource:queryparam}&\${cluster:queryparam}&\${namespace:queryparam}&\${pod:queryparam}&var-server=\${__data.fields.server:percentencode}`;
