/**
 * `GET /api/evidence`: the records that are kept, newest first, filtered. It reads and never changes anything; a filter or a value
 * that does not exist is an error, because an empty answer would look like good news.
 */
import express from 'express';
import { RULES } from '../core/detectors/rules.ts';
import { RESULTS } from '../core/model/operation.ts';
import { OUTCOMES } from '../core/model/verdict.ts';
import { METHODS } from '../core/protocol/methods.ts';
import { EVIDENCE_RECORDS } from '../exporters/evidence.ts';
import { quote } from './config-values.ts';
import { type EvidenceRing, FILTER_FIELDS, type FilterField, type Kept } from './evidence-ring.ts';
import { onlyGet } from './fail-plainly.ts';
import type { LocalPart } from './local-app.ts';
import { nearest } from './nearest.ts';

/** Closed words of a filter; null: any text. */
const WORDS: Readonly<Record<FilterField, readonly string[] | null>> = {
  record: EVIDENCE_RECORDS,
  rule: RULES,
  server: null,
  outcome: OUTCOMES.filter((outcome) => outcome !== 'clean'),
  result: RESULTS.filter((result) => result !== 'first_try'),
  method: METHODS,
};
const NAMES = [...FILTER_FIELDS, 'since', 'limit'] as const;

interface Query {
  readonly limit: number;
  matches(kept: Kept): boolean;
}

/** The caller's mistake, in words that may be shown. */
class BadQuery extends Error {}

const hint = (text: string, words: readonly string[]): string => {
  const meant = nearest(text, words);
  return meant === undefined ? `; one of ${words.join(', ')}` : `; did you mean "${meant}"?`;
};

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Unix ms, or NaN. Date.parse alone takes the 30th of February for the 2nd of March. */
function timeOf(text: string): number {
  const [, year, month, day] = RFC3339.exec(text) ?? [];
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) <= days ? Date.parse(text.toUpperCase()) : Number.NaN;
}

function parseSince(text: string): number {
  const ms = /^\d{1,16}$/.test(text) ? Number(text) : timeOf(text);
  if (!Number.isNaN(ms)) return ms;
  const plus = text.includes(' ') && !Number.isNaN(timeOf(text.replace(' ', '+')));
  const how = plus ? ' (a "+" in a URL is a blank: write %2B)' : '';
  throw new BadQuery(`since: expected RFC 3339 such as 2026-07-28T12:00:00Z, or Unix ms, found ${quote(text)}${how}`);
}

function parseLimit(text: string, capacity: number): number {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > capacity) throw new BadQuery(`limit: expected 1 to ${capacity}, found ${quote(text)}`);
  return limit;
}

/** @throws BadQuery */
function parseQuery(search: URLSearchParams, capacity: number): Query {
  const tests: ((kept: Kept) => boolean)[] = [];
  let limit = capacity;
  for (const name of new Set(search.keys())) {
    const [text = '', ...more] = search.getAll(name);
    if (!(NAMES as readonly string[]).includes(name))
      throw new BadQuery(`${quote(name)}: unknown filter${hint(name, NAMES)}`);
    if (more.length > 0) throw new BadQuery(`${name}: given more than once`);
    if (name === 'limit') limit = parseLimit(text, capacity);
    else if (name === 'since') {
      const since = parseSince(text);
      tests.push(({ ts }) => ts >= since);
    } else {
      const words = WORDS[name as FilterField];
      if (words !== null && !words.includes(text))
        throw new BadQuery(`${name}: unknown value ${quote(text)}${hint(text, words)}`);
      tests.push(({ fields }) => fields[name as FilterField] === text);
    }
  }
  return { limit, matches: (kept) => tests.every((test) => test(kept)) };
}

function find(ring: EvidenceRing, { limit, matches }: Query): string[] {
  const lines: string[] = [];
  for (const kept of ring.newestFirst()) {
    if (lines.length >= limit) break;
    if (matches(kept)) lines.push(kept.line);
  }
  return lines;
}

export function createEvidenceApi(ring: EvidenceRing, capacity: number, suppressed: () => number): LocalPart {
  const routes = express.Router();
  routes.get('/api/evidence', (request, response) => {
    try {
      const query = parseQuery(new URL(request.url, 'http://local').searchParams, capacity);
      const records = find(ring, query);
      // The records are JSON already.
      const body = `{"records":[${records.join(',')}],"kept":${ring.size},"suppressed":${suppressed()}}\n`;
      response.type('json').send(body);
    } catch (error) {
      if (!(error instanceof BadQuery)) throw error;
      response.status(400).json({ error: error.message });
    }
  });
  routes.all('/api/evidence', onlyGet);
  return { paths: ['/api/evidence'], routes };
}
