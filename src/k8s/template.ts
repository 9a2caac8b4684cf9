/**
 * A pod template with its metadata: the label that says it was injected, the scrape annotations on request, and what the template
 * itself says about being injected. Annotations of the host are never changed.
 */
import {
  CONTAINER_ANNOTATION,
  INJECT_LABEL,
  INJECTED_LABEL,
  METRICS_PORT_NAME,
  NAMES,
  SCRAPE_ANNOTATIONS,
} from './constants.ts';
import { inject } from './inject.ts';
import type { InjectOptions } from './options.ts';
import type { Container, Metadata, PodTemplate } from './types.ts';
import { isInjected, uninject } from './uninject.ts';

/** Says which scrape annotations are ours. */
const OWN_SCRAPE = 'tailfin.dev/scrape-annotations';

/** `true`, `false`, or undefined where it says nothing; the label counts, an annotation of the same name too. */
export function wishOf({ metadata }: PodTemplate): string | undefined {
  return metadata?.labels?.[INJECT_LABEL] ?? metadata?.annotations?.[INJECT_LABEL];
}

/** @throws InjectRefusal */
export function injectTemplate(given: PodTemplate, options: InjectOptions): PodTemplate {
  const template = uninjectTemplate(given);
  const named = template.metadata?.annotations?.[CONTAINER_ANNOTATION];
  const containers = options.containers?.length ? options.containers : named === undefined ? undefined : [named];
  const spec = inject(template.spec, { ...options, containers });
  const own = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === NAMES.sidecar);
  const annotations = options.scrapeAnnotations ? scrapeAnnotations(template.metadata, own) : {};
  return {
    ...template,
    metadata: {
      ...template.metadata,
      labels: { ...template.metadata?.labels, [INJECTED_LABEL]: 'true' },
      ...(Object.keys(annotations).length > 0 && {
        annotations: { ...template.metadata?.annotations, ...annotations },
      }),
    },
    spec,
  };
}

/** None where the host has one of them: half of its own and half of ours would scrape nothing. */
function scrapeAnnotations(metadata: Metadata | null | undefined, own: Container | undefined): Record<string, string> {
  if (SCRAPE_ANNOTATIONS.some((name) => metadata?.annotations?.[name] !== undefined)) return {};
  const port = own?.ports?.find(({ name }) => name === METRICS_PORT_NAME)?.containerPort;
  const values = ['true', String(port), '/metrics'];
  return {
    ...Object.fromEntries(SCRAPE_ANNOTATIONS.map((name, index) => [name, values[index] as string])),
    [OWN_SCRAPE]: 'true',
  };
}

/** @throws InjectRefusal */
export function uninjectTemplate(template: PodTemplate): PodTemplate {
  if (!isInjected(template.spec)) return template;
  const { metadata, ...rest } = template;
  const annotations = metadata?.annotations ?? {};
  const own: readonly string[] = annotations[OWN_SCRAPE] === undefined ? [] : [OWN_SCRAPE, ...SCRAPE_ANNOTATIONS];
  const left = without({ ...metadata }, 'labels', [INJECTED_LABEL]);
  const cleaned = without(left, 'annotations', own);
  return {
    ...(Object.keys(cleaned).length > 0 && { metadata: cleaned }),
    ...rest,
    spec: uninject(template.spec),
  };
}

function without(metadata: Metadata, field: 'labels' | 'annotations', names: readonly string[]): Metadata {
  const { [field]: map, ...rest } = metadata;
  const left = Object.entries(map ?? {}).filter(([name]) => !names.includes(name));
  return left.length === Object.keys(map ?? {}).length
    ? metadata
    : { ...rest, ...(left.length > 0 && { [field]: Object.fromEntries(left) }) };
}
