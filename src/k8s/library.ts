/**
 * Named templates for authors of charts whose pods are to bring Tailfin along. The parts are those of `inject`; what an author has to
 * pass is the image, and what the host has: its NODE_OPTIONS and its user.
 */
import { GENERATED } from './chart.ts';
import { INJECTED_LABEL, LOCAL_PORT, METRICS_PORT, TAP_OPTION } from './constants.ts';
import { HOST_MOUNTS, hostVariables, installSecurity, installStep, sidecar, volumes } from './parts.ts';

const IMAGE = 'TAILFIN_IMAGE_HERE';
const IMAGE_TEMPLATE = '{{ required "tailfin: pass the image" .image }}';

const define = (name: string, comment: string, body: string): string =>
  `{{- /* ${comment} */ -}}\n{{- define "tailfin.sidecar.${name}" -}}\n${body.trimEnd()}\n{{- end -}}\n`;

export function libraryTemplate(toYaml: (value: unknown) => string): string {
  const options = { image: IMAGE };
  const install = installStep(options, installSecurity(undefined, undefined), 'given');
  const steps = toYaml([install, sidecar(options, { metrics: METRICS_PORT, local: LOCAL_PORT })]);
  // The install step runs as the host does: its user stands before the first line of its own security context.
  const user = [
    '    {{- with .runAsUser }}',
    '    runAsUser: {{ . | int64 }}',
    '    {{- end }}',
    '    {{- with .runAsGroup }}',
    '    runAsGroup: {{ . | int64 }}',
    '    {{- end }}',
  ].join('\n');
  const withUser = steps
    .replace('  securityContext:\n', `  securityContext:\n${user}\n`)
    .replaceAll(IMAGE, IMAGE_TEMPLATE);
  return [
    `{{- /* ${GENERATED} How to use it: deploy/library/README.md. */ -}}\n`,
    define(
      'initContainers',
      'With (dict "image" IMAGE "runAsUser" UID "runAsGroup" GID); the users are those of the host.',
      withUser,
    ),
    define('volumes', 'For the pod.', toYaml(volumes(options))),
    define(
      'env',
      'For the host, with (dict "nodeOptions" OPTIONS): what it passes to Node itself.',
      `- name: NODE_OPTIONS\n  value: {{ with .nodeOptions }}{{ printf "%s ${TAP_OPTION}" . | quote }}{{ else }}"${TAP_OPTION}"{{ end }}\n${toYaml(hostVariables(options))}`,
    ),
    define('volumeMounts', 'For the host.', toYaml(HOST_MOUNTS)),
    define('podLabels', 'For the pod template: PodMonitor selects by it.', toYaml({ [INJECTED_LABEL]: 'true' })),
  ].join('');
}
