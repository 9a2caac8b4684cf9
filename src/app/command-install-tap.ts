/**
 * `tailfin install-tap DIR`: puts the tap where a host can load it, makes the events folder that any user may write to, and prints
 * the environment of the host. For init containers: no shell, any user, as often as one likes. It must not touch anything else.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KEYS } from './config-keys.ts';
import { RuntimeFailure, reasonOf } from './exit.ts';

export const TAP_FILE = 'tailfin-tap.cjs';
/** The folder of the files that `tailfin run` follows by default, and where the tap writes by default. */
export const EVENTS_FOLDER = dirname(KEYS.events.default[0]);

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
/** Any user may add files; nobody but their owner may remove them. */
const EVENTS_MODE = 0o1777;
const ALL_MAY_WRITE = 0o003;

export interface InstallOptions {
  readonly folder: string;
  readonly events?: string | undefined;
  /** The tap to install; default: the one that came with this Tailfin. */
  readonly tap?: string | undefined;
}

/** Installs it; returns the lines of environment for the host. @throws RuntimeFailure */
export function installTap({ folder, events = EVENTS_FOLDER, tap = ownTap() }: InstallOptions): string[] {
  const target = resolve(folder, TAP_FILE);
  const eventsFolder = resolve(events);
  for (const path of [target, eventsFolder])
    if (/[\r\n]/.test(path))
      throw new RuntimeFailure(`no environment variable can hold a path with a line end: ${JSON.stringify(path)}`);
  const bytes = attempt(`read the tap ${tap}`, () => readFileSync(tap));
  attempt(`make the folder ${dirname(target)}`, () =>
    mkdirSync(dirname(target), { recursive: true, mode: FOLDER_MODE }),
  );
  if (!isThere(target, bytes)) attempt(`write ${target}`, () => replace(target, bytes));
  openToAll(eventsFolder);
  const lines = [`NODE_OPTIONS=--require ${quoted(target)}`];
  if (eventsFolder !== EVENTS_FOLDER) lines.push(`TAILFIN_TAP_DIR=${eventsFolder}`);
  return lines;
}

/** Beside the command in a bundle, where this module may be a chunk in a folder below. */
function ownTap(): string {
  const places = [`./${TAP_FILE}`, `../${TAP_FILE}`, `../../dist/${TAP_FILE}`];
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new RuntimeFailure(
    `${TAP_FILE} is not part of this installation of Tailfin: reinstall it, or run \`npm run build\``,
  );
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new RuntimeFailure(`cannot ${what}: ${reasonOf(error)}`);
  }
}

const statsOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

/** A second run must not disturb hosts that start at this moment, nor fail where it has nothing to do. */
function isThere(path: string, bytes: Buffer): boolean {
  try {
    const stats = statsOf(path);
    return stats?.isFile() === true && (stats.mode & 0o444) === 0o444 && readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** At once: a host that loads the tap meanwhile sees the old one or the new one. */
function replace(path: string, bytes: Buffer): void {
  const temporary = join(dirname(path), `.${TAP_FILE}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, bytes, { mode: FILE_MODE, flag: 'wx' });
    // The umask of whoever runs this is not that of the hosts.
    chmodSync(temporary, FILE_MODE);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function openToAll(folder: string): void {
  attempt(`make the events folder ${folder}`, () => mkdirSync(folder, { recursive: true, mode: FOLDER_MODE }));
  const mode = (statsOf(folder)?.mode ?? 0) & 0o7777;
  if ((mode & EVENTS_MODE) === EVENTS_MODE) return;
  try {
    chmodSync(folder, mode | EVENTS_MODE);
  } catch (error) {
    // A volume that belongs to another user may be open to all as it is.
    if ((mode & ALL_MAY_WRITE) === ALL_MAY_WRITE) return;
    throw new RuntimeFailure(
      `cannot open the events folder ${folder} to every user (mode ${mode.toString(8).padStart(4, '0')}): ${reasonOf(error)}`,
    );
  }
}

/** As Node reads NODE_OPTIONS: blanks part, double quotes hold together, a backslash escapes within them. */
export function quoted(path: string): string {
  return /[\s"]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path;
}
