/** Options of `tailfin inject`: one table for the flags and for the functionConfig of a KRM function, which has the same names. */
import { DEFAULT_QUOTA_MIB, IMAGE_USER } from '../k8s/constants.ts';
import type { InjectOptions } from '../k8s/options.ts';
import { ConfigError } from './config-merge.ts';

export interface InjectFlag {
  readonly flag: string;
  readonly doc: string;
  /** May be given several times; in a functionConfig the values stand in one text, with commas between. */
  readonly many?: boolean;
}

export const INJECT_FLAGS: Readonly<Record<string, InjectFlag>> = {
  image: {
    flag: '--image <ref>',
    doc: 'the Tailfin image in a registry that the nodes can pull from (TAILFIN_IMAGE); required',
  },
  container: {
    flag: '--container <name>',
    doc: 'container whose Node loads the tap; may be repeated (default: the first)',
    many: true,
  },
  kubernetes: {
    flag: '--kubernetes <version>',
    doc: 'version of the cluster; below 1.29 Tailfin is a plain container (default: 1.29 or later)',
  },
  quota: {
    flag: '--quota <MiB>',
    doc: `space of the event files; the volume gets twice as much (default: ${DEFAULT_QUOTA_MIB})`,
  },
  'run-as-user': {
    flag: '--run-as-user <uid>',
    doc: `user of the sidecar, or \`none\` where the platform chooses (default: ${IMAGE_USER})`,
  },
  'pull-policy': { flag: '--pull-policy <policy>', doc: 'Always, IfNotPresent or Never' },
  'scrape-annotations': { flag: '--scrape-annotations', doc: 'add prometheus.io/* annotations where the pod has none' },
};

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'] as const;
/** No registry accepts anything else, and nothing else may reach a manifest. */
const IMAGE = /^[\w.\-:/]+(@sha256:[0-9a-f]{64})?$/;
const MAX_QUOTA_MIB = 1024 * 1024;

/** @throws ConfigError */
export function injectOptions(
  given: Readonly<Record<string, string | boolean | readonly string[] | undefined>>,
): InjectOptions {
  const problems: string[] = [];
  const text = (name: string): string | undefined => (given[name] === undefined ? undefined : String(given[name]));
  const fail = (name: string, what: string): undefined => {
    problems.push(`--${name}: ${what}`);
    return undefined;
  };
  for (const name of Object.keys(given)) if (INJECT_FLAGS[name] === undefined) fail(name, 'there is no such option');
  const image = text('image') ?? '';
  if (image === '') fail('image', 'name the Tailfin image in your registry (or set TAILFIN_IMAGE)');
  else if (!IMAGE.test(image)) fail('image', `${JSON.stringify(image)} is no image reference`);
  const version = /^v?1\.(\d+)/.exec(text('kubernetes') ?? 'v1.29');
  if (version === null) fail('kubernetes', 'a version is like 1.31');
  const quotaMiB = Number(text('quota') ?? DEFAULT_QUOTA_MIB);
  if (!Number.isInteger(quotaMiB) || quotaMiB < 1 || quotaMiB > MAX_QUOTA_MIB) fail('quota', 'a whole number of MiB');
  const user = text('run-as-user') ?? String(IMAGE_USER);
  if (user !== 'none' && !/^[1-9]\d{0,9}$/.test(user)) fail('run-as-user', 'a user id above 0, or none');
  const imagePullPolicy = PULL_POLICIES.find((each) => each === text('pull-policy'));
  if (given['pull-policy'] !== undefined && imagePullPolicy === undefined)
    fail('pull-policy', PULL_POLICIES.join(', '));
  if (problems.length > 0) throw new ConfigError(problems);
  const names = given.container ?? [];
  return {
    image,
    imagePullPolicy,
    containers:
      typeof names === 'object'
        ? names
        : String(names)
            .split(',')
            .map((each) => each.trim()),
    native: Number(version?.[1]) >= 29,
    quotaMiB,
    runAsUser: user === 'none' ? null : Number(user),
    scrapeAnnotations: text('scrape-annotations') === 'true',
  };
}
