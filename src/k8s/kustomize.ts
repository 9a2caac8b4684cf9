/**
 * The Kustomize component. Patches add what is found by name; what belongs into the first container, whose name nobody knows, goes there
 * by replacements, which can append to NODE_OPTIONS where a patch could only replace it. What Kustomize cannot do is in its head.
 */
import { GENERATED } from './chart.ts';
import { INJECT_LABEL, INJECTED_LABEL, LOCAL_PORT, METRICS_PORT, TAP_OPTION } from './constants.ts';
import { HOST_MOUNTS, hostVariables, installSecurity, installStep, sidecar, volumes } from './parts.ts';

/** The name that the `images` of an overlay give the real one to. */
export const IMAGE_NAME = 'tailfin';
const KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
const PARTS = 'tailfin-parts';
const SELECTOR = `${INJECT_LABEL}=true`;
/** Past the end of any list of options: Kustomize then appends. */
const AT_THE_END = 9999;

const HEAD = `# ${GENERATED}
# Puts Tailfin beside the first container of every Deployment, StatefulSet and DaemonSet with the annotation ${INJECT_LABEL}: "true".
# In the overlay: components: [path/to/this], and images: [{name: ${IMAGE_NAME}, newName: registry.example/tailfin, newTag: 0.1.0}].
# Unlike \`tailfin inject\` it cannot choose another port or container, leaves the grace period as it is, and refuses nothing: a
# NODE_OPTIONS with valueFrom becomes a manifest that the API server refuses. Build once: a second build over its output appends again.
`;

export function kustomizeFiles(toYaml: (value: unknown) => string): Record<string, string> {
  const options = { image: IMAGE_NAME };
  const pod = {
    metadata: { labels: { [INJECTED_LABEL]: 'true' } },
    spec: {
      initContainers: [
        installStep(options, installSecurity(undefined, undefined), 'kept'),
        sidecar(options, { metrics: METRICS_PORT, local: LOCAL_PORT }),
      ],
      volumes: volumes(options),
    },
  };
  const patch = (kind: string) =>
    toYaml({ apiVersion: 'apps/v1', kind, metadata: { name: 'any' }, spec: { template: pod } });
  const component = {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    resources: ['parts.yaml'],
    patches: KINDS.map((kind) => ({ target: { kind, annotationSelector: SELECTOR }, patch: patch(kind) })),
    replacements: replacements(),
  };
  const parts = {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    // Never part of the output.
    metadata: { name: PARTS, annotations: { 'config.kubernetes.io/local-config': 'true' } },
    template: {
      spec: {
        containers: [
          {
            name: 'host',
            env: [{ name: 'NODE_OPTIONS', value: TAP_OPTION }, ...hostVariables(options)],
            volumeMounts: HOST_MOUNTS,
          },
        ],
      },
    },
  };
  return {
    'kustomization.yaml': HEAD + toYaml(component),
    'parts.yaml': `# ${GENERATED}\n# Where the replacements take from; it is never part of the output.\n${toYaml(parts)}`,
  };
}

function replacements(): object[] {
  const targets = (path: string, options: object) =>
    KINDS.map((kind) => ({
      select: { kind, annotationSelector: SELECTOR },
      fieldPaths: [`spec.template.spec.containers.0.${path}`],
      options,
    }));
  const moved = (path: string, options: object = { create: true }) => ({
    source: { kind: 'PodTemplate', name: PARTS, fieldPath: `template.spec.containers.[name=host].${path}` },
    targets: targets(path, options),
  });
  return [
    moved('env.[name=NODE_OPTIONS].value', { create: true, delimiter: ' ', index: AT_THE_END }),
    ...hostVariables({ image: '' }).map(({ name }) => moved(`env.[name=${name}].valueFrom`)),
    ...HOST_MOUNTS.flatMap(({ name, readOnly }) => [
      moved(`volumeMounts.[name=${name}].mountPath`),
      ...(readOnly ? [moved(`volumeMounts.[name=${name}].readOnly`)] : []),
    ]),
  ];
}
