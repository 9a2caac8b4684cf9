/**
 * The admission policies: what `inject` does, as expressions that the API server evaluates itself, without a server of ours. The
 * containers, volumes and mounts are those of parts.ts, turned into literals; only where they depend on the pod stands an expression.
 * What `inject` refuses, the mutating policy leaves alone, and the validating one says why. Both must never keep a pod from starting.
 */
import { cel, raw } from './cel.ts';
import {
  CONTAINER_ANNOTATION,
  DEFAULT_GRACE_SECONDS,
  EXTRA_GRACE_SECONDS,
  IMAGE_USER,
  INJECT_LABEL,
  INJECTED_LABEL,
  LOCAL_PORT,
  METRICS_PORT,
  METRICS_PORT_NAME,
  NAMES,
  TAP_OPTION,
  VOLUMES,
} from './constants.ts';
import { MOUNT_ABOVE_TEXT, MOUNT_BELOW_TEXT, READ_ONLY_SOURCES } from './mounts.ts';
import type { InjectOptions } from './options.ts';
import { HOST_MOUNTS, hostVariables, installSecurity, installStep, sidecar, volumes } from './parts.ts';
import { OS_LABELS } from './refusals.ts';
import type { Container, Resources, SecurityContext, Volume } from './types.ts';
import { ENV_FROM_WARNING, HOST_NETWORK_WARNING } from './warnings.ts';

/** What differs from one installation to the next: text that stands in the place of a literal. */
export interface PolicyHoles {
  readonly image: string;
  readonly pullPolicy: string;
  /** Whole expressions. */
  readonly runAsUser: string;
  readonly resources: string;
  readonly eventsSize: string;
  readonly quotaBytes: string;
}
interface Named {
  readonly name: string;
  readonly expression: string;
}

/** As many ports as are tried; with all of them taken the expression fails, and the pod stays as it is. */
const PORTS_TRIED = 10;
const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;
const range = (from: number): string =>
  `[${Array.from({ length: PORTS_TRIED }, (_, index) => from + index).join(', ')}]`;

const VARIABLES: readonly Named[] = [
  { name: 'inits', expression: 'object.spec.?initContainers.orValue([])' },
  { name: 'volumes', expression: 'object.spec.?volumes.orValue([])' },
  {
    name: 'wanted',
    expression: `object.metadata.?annotations[?"${CONTAINER_ANNOTATION}"].orValue(object.spec.containers[0].name)`,
  },
  { name: 'target', expression: 'object.spec.containers.map(c, c.name).indexOf(variables.wanted)' },
  { name: 'host', expression: 'object.spec.containers[variables.target < 0 ? 0 : variables.target]' },
  { name: 'env', expression: 'variables.host.?env.orValue([])' },
  { name: 'options', expression: 'variables.env.map(e, e.name).lastIndexOf("NODE_OPTIONS")' },
  { name: 'injected', expression: `variables.inits.exists(c, c.name == "${NAMES.install}")` },
  { name: 'reasons', expression: reasons() },
];

/** The refusals of inject.ts, in its order. */
function reasons(): string {
  const names = quoted(Object.values(NAMES));
  const mounts = 'variables.host.?volumeMounts.orValue([])';
  const readOnly = READ_ONLY_SOURCES.map((source) => `has(v.${source})`).join(' || ');
  const either = (test: string) => `object.spec.containers.exists(c, ${test}) || variables.inits.exists(c, ${test})`;
  const rules: readonly (readonly [string, string])[] = [
    ['object.spec.?os.name.orValue("") == "windows"', 'the image is for Linux, not for Windows'],
    [
      OS_LABELS.map((label) => `object.spec.?nodeSelector[?"${label}"].orValue("") == "windows"`).join(' || '),
      'the node selector asks for Windows',
    ],
    [windowsAffinity(), 'the node affinity asks for Windows'],
    [
      `has(object.spec.securityContext) && has(object.spec.securityContext.windowsOptions) || ${either('has(c.securityContext) && has(c.securityContext.windowsOptions)')}`,
      'the security context is one of Windows',
    ],
    [
      'has(object.spec.resources) && (has(object.spec.resources.requests) || has(object.spec.resources.limits))',
      'the pod has requests or limits of its own, which its containers share',
    ],
    // What the kubelet shows of a pod that it runs from a file: a change would not reach the pod.
    [
      'object.metadata.?annotations[?"kubernetes.io/config.mirror"].hasValue()',
      'it is the mirror of a static pod, which runs as it is written on its node',
    ],
    [either(`c.name in ${names}`), 'a container of that name is there'],
    [
      either(`c.?ports.orValue([]).exists(p, p.?name.orValue("") == "${METRICS_PORT_NAME}")`),
      `the port name ${METRICS_PORT_NAME} is in use`,
    ],
    [`variables.volumes.exists(v, v.name in ${quoted(Object.values(VOLUMES))})`, 'a volume of that name is there'],
    ['variables.target < 0', `the annotation ${CONTAINER_ANNOTATION} names no container`],
    [
      `${mounts}.exists(m, m.mountPath.matches(${JSON.stringify(MOUNT_BELOW_TEXT)}))`,
      'something is mounted where Tailfin mounts',
    ],
    [
      `${mounts}.exists(m, m.mountPath.matches(${JSON.stringify(MOUNT_ABOVE_TEXT)}) && (m.?readOnly.orValue(false) || variables.volumes.exists(v, v.name == m.name && (${readOnly}))))`,
      'something read-only is mounted above where Tailfin mounts',
    ],
    [
      'variables.env.exists(e, e.name in ["TAILFIN_TAP_DIR", "TAILFIN_TAP_QUOTA"])',
      'TAILFIN_TAP_DIR or TAILFIN_TAP_QUOTA is set',
    ],
    [
      'variables.options >= 0 && has(variables.env[variables.options].valueFrom)',
      'NODE_OPTIONS comes from elsewhere (valueFrom), so nothing can be appended: rename that variable and put NODE_OPTIONS: $(NEW_NAME) after it',
    ],
  ];
  return rules.map(([test, text]) => `(${test} ? ["${text}"] : [])`).join(' +\n');
}

function windowsAffinity(): string {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const terms = `object.spec.?affinity.?nodeAffinity.?${required}.?nodeSelectorTerms.orValue([])`;
  const asks = `e.key in ${quoted(OS_LABELS)} && e.operator == "In" && e.?values.orValue([]).exists(x, x == "windows")`;
  return `${terms}.exists(t, t.?matchExpressions.orValue([]).exists(e, ${asks}))`;
}

function freePorts(): Named[] {
  const uses = (list: string) =>
    `${list}.exists(c, c.?ports.orValue([]).exists(p, p.containerPort == n || p.?hostPort.orValue(0) == n))`;
  const free = `!${uses('object.spec.containers')} && !${uses('variables.inits')}`;
  return [
    { name: 'metricsPort', expression: `${range(METRICS_PORT)}.filter(n, ${free})[0]` },
    { name: 'localPort', expression: `${range(LOCAL_PORT)}.filter(n, n != variables.metricsPort && ${free})[0]` },
  ];
}

/** The security context of the install step: who the host runs as. */
function hostSecurity(): SecurityContext {
  const of = (field: string) => raw(`variables.host.?securityContext.?${field}`);
  const { runAsNonRoot: _, ...hardening } = installSecurity(undefined, undefined);
  const user = `variables.host.?securityContext.?runAsUser.orValue(object.spec.?securityContext.?runAsUser.orValue(${IMAGE_USER}))`;
  return {
    '?runAsUser': of('runAsUser'),
    '?runAsGroup': of('runAsGroup'),
    runAsNonRoot: raw(`${user} != 0`) as never,
    ...hardening,
    '?seLinuxOptions': of('seLinuxOptions'),
  };
}

/** The same parts as `inject`, with holes and expressions in the places that differ. */
function parts(holes: PolicyHoles): { install: Container; own: Container; volumes: Volume[] } {
  const options: InjectOptions = {
    image: holes.image,
    imagePullPolicy: holes.pullPolicy as never,
    runAsUser: raw(holes.runAsUser) as never,
    resources: raw(holes.resources) as never as Resources,
  };
  const own = sidecar(options, { metrics: METRICS_PORT, local: LOCAL_PORT });
  const args = own.args?.map((arg) =>
    arg.endsWith(`:${METRICS_PORT}`)
      ? raw('"0.0.0.0:" + string(variables.metricsPort)')
      : arg.endsWith(`:${LOCAL_PORT}`)
        ? raw('"127.0.0.1:" + string(variables.localPort)')
        : raw(JSON.stringify(arg)),
  );
  const ports = own.ports?.map((port) => ({ ...port, containerPort: raw('variables.metricsPort') }));
  const sized = volumes(options).map((volume) =>
    volume.name === VOLUMES.events ? { ...volume, emptyDir: { sizeLimit: holes.eventsSize } } : volume,
  );
  return {
    install: installStep(options, hostSecurity(), 'given'),
    own: { ...own, args, ports } as never,
    volumes: sized,
  };
}

function patch(holes: PolicyHoles): string {
  const { install, own, volumes: added } = parts(holes);
  const host = '"/spec/containers/" + string(variables.target)';
  const add = (path: string, value: string) => `JSONPatch{op: "add", path: ${path}, value: ${value}}`;
  const literal = (value: unknown, type: string) => cel(value, type, '  ');
  const inits = 'Object.spec.initContainers';
  /** An empty list where there is none, then one by one: a list of objects as a value makes the API server panic (1.36.3). */
  const toList = (has: string, path: string, ops: readonly string[]) =>
    `(${has} ? [] : [${add(path, '[]')}]) +\n[${ops.join(',\n')}] +`;
  const append = (has: string, path: string, values: readonly string[]) =>
    toList(
      has,
      path,
      values.map((value) => add(`${path} + "/-"`, value)),
    );
  const variables = hostVariables({ image: '' });
  const variable = (value: unknown) => literal(value, 'Object.spec.containers.env');
  const option = variable({ name: 'NODE_OPTIONS', value: TAP_OPTION });
  const quota = variable({ name: 'TAILFIN_TAP_QUOTA', value: raw(`string(${holes.quotaBytes})`) });
  const appended = `variables.env[variables.options].?value.orValue("") + " ${TAP_OPTION}"`;
  return [
    `variables.injected || variables.reasons.size() > 0 ? [] :`,
    toList('has(object.spec.initContainers)', '"/spec/initContainers"', [
      add('"/spec/initContainers/0"', literal(own, inits)),
      add('"/spec/initContainers/0"', literal(install, inits)),
    ]),
    append(
      'has(object.spec.volumes)',
      '"/spec/volumes"',
      added.map((each) => literal(each, 'Object.spec.volumes')),
    ),
    `(has(variables.host.env) ? [] : [${add(`${host} + "/env"`, '[]')}]) +`,
    `(variables.options >= 0 ?`,
    `[${add(`${host} + "/env/" + string(variables.options) + "/value"`, `(${appended})`)}] :`,
    `[${add(`${host} + "/env/-"`, option)}]) +`,
    ...variables.map(
      (each) =>
        `(variables.env.exists(e, e.name == "${each.name}") ? [] : [${add(`${host} + "/env/-"`, variable(each))}]) +`,
    ),
    `(${holes.quotaBytes} == 0 ? [] : [${add(`${host} + "/env/-"`, quota)}]) +`,
    append(
      'has(variables.host.volumeMounts)',
      `${host} + "/volumeMounts"`,
      HOST_MOUNTS.map((each) => literal(each, 'Object.spec.containers.volumeMounts')),
    ),
    `[${add('"/spec/terminationGracePeriodSeconds"', grace())},`,
    `${add(`"/metadata/labels/" + jsonpatch.escapeKey("${INJECTED_LABEL}")`, '"true"')}]`,
  ].join('\n');
}

function grace(): string {
  const given = `object.spec.?terminationGracePeriodSeconds.orValue(${DEFAULT_GRACE_SECONDS})`;
  return `(${given} == 0 ? 0 : ${given} + ${EXTRA_GRACE_SECONDS})`;
}

const MATCH = {
  objectSelector: { matchLabels: { [INJECT_LABEL]: 'true' } },
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
} as const;

export function mutatingSpec(holes: PolicyHoles): object {
  return {
    // A policy of ours must not keep a pod from starting, whatever is wrong with it.
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'Never',
    matchConstraints: MATCH,
    variables: [...VARIABLES, ...freePorts()],
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch(holes) } }],
  };
}

export function validatingSpec(): object {
  return {
    failurePolicy: 'Ignore',
    matchConstraints: MATCH,
    variables: VARIABLES,
    validations: [
      {
        expression: 'variables.injected',
        messageExpression:
          '"Tailfin was not put beside this pod: " + (variables.reasons.size() > 0 ? variables.reasons.join("; ") : "the policy failed on it, or is not there")',
      },
      {
        expression: `!variables.injected || variables.options < 0 || variables.host.?envFrom.orValue([]).size() == 0 || variables.env[variables.options].?value.orValue("") != "${TAP_OPTION}"`,
        message: `Tailfin: ${ENV_FROM_WARNING}`,
      },
      {
        expression: '!variables.injected || !object.spec.?hostNetwork.orValue(false)',
        message: `Tailfin: ${HOST_NETWORK_WARNING}`,
      },
    ],
  };
}
