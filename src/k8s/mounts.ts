/**
 * Paths that are in the way of Tailfin's own mounts, as expressions that JavaScript and CEL (RE2) read alike. A wrong one keeps the host
 * from starting: a runtime cannot make a mount point within something read-only. `/var/run` is a link to `/run` in nearly every image.
 */
import { PATHS } from './constants.ts';

const [, var_ = '', run = '', own = ''] = PATHS.tap.split('/');
const LAST = Object.values(PATHS).map((path) => path.split('/').at(-1));
/** Between two names: what a runtime cleans away. */
const SLASH = '/+(\\./+)*';
const RUN = `(${var_}${SLASH})?${run}`;

/** At one of our mounts, or below it. */
export const MOUNT_BELOW_TEXT = `^${SLASH}${RUN}${SLASH}${own}${SLASH}(${LAST.join('|')})(/.*)?$`;
/** Above all of them. */
export const MOUNT_ABOVE_TEXT = `^${SLASH}(${var_}|${RUN}(${SLASH}${own})?)?(/[/.]*)?$`;
export const MOUNT_BELOW = new RegExp(MOUNT_BELOW_TEXT);
export const MOUNT_ABOVE = new RegExp(MOUNT_ABOVE_TEXT);

/** Volumes that a kubelet mounts read-only, whatever the mount says. */
export const READ_ONLY_SOURCES = ['configMap', 'secret', 'projected', 'downwardAPI', 'image'] as const;
