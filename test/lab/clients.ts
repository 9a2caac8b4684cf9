/** The real clients that the lab drives. How each is called is host.cjs; here stands what rows must know of them. */
import type { Revision } from './messages.ts';

export interface ClientSpec {
  readonly name: string;
  readonly text: string;
  readonly revision: Revision;
}

export const CLIENTS = [
  { name: 'C2-2026', text: '@modelcontextprotocol/client 2.4.0 pinned to 2026-07-28', revision: '2026-07-28' },
  { name: 'C2-2025', text: '@modelcontextprotocol/client 2.4.0 as it comes', revision: '2025-11-25' },
  { name: 'S1', text: '@modelcontextprotocol/sdk 1.32.2', revision: '2025-11-25' },
] as const satisfies readonly ClientSpec[];

export type ClientName = (typeof CLIENTS)[number]['name'];

export const revisionOf = (client: ClientName): Revision =>
  (CLIENTS.find(({ name }) => name === client) as ClientSpec).revision;
