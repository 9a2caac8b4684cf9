/**
 * Strict schemas of the kinds that the types of Kubernetes 1.30 do not have, or not whole (the resources of admission rules are missing
 * there): written by hand, only the fields that this project uses.
 * A field that is right but not here fails too: then it is added here, on purpose.
 */
type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string', minLength: 1 };
const words = { type: 'object', additionalProperties: { type: 'string' } };
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 });
const duration = { type: 'string', pattern: '^([0-9]+(ms|s|m|h|d|w))+$' };
const selector = object({
  matchLabels: words,
  matchExpressions: list(object({ key: text, operator: text, values: list(text) })),
});
const relabeling = object({
  action: text,
  sourceLabels: list(text),
  targetLabel: text,
  replacement: text,
  regex: text,
  separator: { type: 'string' },
});

const kind = (apiVersion: string, name: string, spec: Schema): Schema =>
  object(
    {
      apiVersion: { const: apiVersion },
      kind: { const: name },
      metadata: object({ name: text, namespace: text, labels: words, annotations: words }, ['name']),
      spec,
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  );

const resources = object({ namespaceSelector: selector, objectSelector: selector, resourceRules: list(rule()) });
function rule(): Schema {
  return object({
    apiGroups: list({ type: 'string' }),
    apiVersions: list(text),
    operations: list(text),
    resources: list(text),
  });
}

const gitSource = object({ kind: { const: 'GitRepository' }, name: text }, ['kind', 'name']);

/** Kinds of the examples for Argo CD, Flux and Kustomize. */
const EXAMPLE_KINDS: Readonly<Record<string, Schema>> = {
  Application: kind(
    'argoproj.io/v1alpha1',
    'Application',
    object(
      {
        project: text,
        source: object({ repoURL: text, targetRevision: text, path: text, helm: object({ valueFiles: list(text) }) }, [
          'repoURL',
          'path',
        ]),
        destination: object({ server: text, namespace: text }, ['server', 'namespace']),
        syncPolicy: object({ syncOptions: list(text) }),
      },
      ['project', 'source', 'destination'],
    ),
  ),
  GitRepository: kind(
    'source.toolkit.fluxcd.io/v1',
    'GitRepository',
    object({ interval: duration, url: text, ref: object({ branch: text }) }, ['interval', 'url']),
  ),
  HelmRelease: kind(
    'helm.toolkit.fluxcd.io/v2',
    'HelmRelease',
    object(
      {
        interval: duration,
        targetNamespace: text,
        chart: object({
          spec: object({ chart: text, sourceRef: gitSource, valuesFiles: list(text) }, ['chart', 'sourceRef']),
        }),
      },
      ['interval', 'chart'],
    ),
  ),
  Kustomization: {
    anyOf: [
      kind(
        'kustomize.toolkit.fluxcd.io/v1',
        'Kustomization',
        object({ interval: duration, path: text, prune: { type: 'boolean' }, sourceRef: gitSource }, [
          'interval',
          'prune',
          'sourceRef',
        ]),
      ),
      object(
        {
          apiVersion: { const: 'kustomize.config.k8s.io/v1beta1' },
          kind: { const: 'Kustomization' },
          namespace: text,
          resources: list(text),
          components: list(text),
          images: list(object({ name: text, newName: text, newTag: text }, ['name'])),
          patches: list(object({ target: object({ kind: text, name: text }), patch: text }, ['patch'])),
        },
        ['apiVersion', 'kind', 'resources'],
      ),
    ],
  },
};

export const OTHER_KINDS: Readonly<Record<string, Schema>> = {
  ...EXAMPLE_KINDS,
  MutatingAdmissionPolicy: kind(
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicy',
    object(
      {
        failurePolicy: { enum: ['Ignore', 'Fail'] },
        reinvocationPolicy: { enum: ['Never', 'IfNeeded'] },
        matchConstraints: resources,
        matchConditions: list(object({ name: text, expression: text }, ['name', 'expression'])),
        variables: list(object({ name: text, expression: text }, ['name', 'expression'])),
        mutations: list(
          object({ patchType: { const: 'JSONPatch' }, jsonPatch: object({ expression: text }, ['expression']) }, [
            'patchType',
            'jsonPatch',
          ]),
        ),
      },
      ['failurePolicy', 'reinvocationPolicy', 'matchConstraints', 'mutations'],
    ),
  ),
  MutatingAdmissionPolicyBinding: kind(
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicyBinding',
    object({ policyName: text, matchResources: resources }, ['policyName']),
  ),
  ValidatingAdmissionPolicy: kind(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    object(
      {
        failurePolicy: { enum: ['Ignore', 'Fail'] },
        matchConstraints: resources,
        variables: list(object({ name: text, expression: text }, ['name', 'expression'])),
        validations: list(object({ expression: text, message: text, messageExpression: text }, ['expression'])),
      },
      ['failurePolicy', 'matchConstraints', 'validations'],
    ),
  ),
  ValidatingAdmissionPolicyBinding: kind(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    object({ policyName: text, matchResources: resources, validationActions: list({ enum: ['Warn'] }) }, [
      'policyName',
      'validationActions',
    ]),
  ),
  PodMonitor: kind(
    'monitoring.coreos.com/v1',
    'PodMonitor',
    object(
      {
        selector,
        namespaceSelector: object({ any: { type: 'boolean' }, matchNames: list(text) }),
        podMetricsEndpoints: list(
          object({
            port: text,
            path: text,
            interval: duration,
            scrapeTimeout: duration,
            relabelings: list(relabeling),
          }),
        ),
      },
      ['selector', 'podMetricsEndpoints'],
    ),
  ),
  PrometheusRule: kind(
    'monitoring.coreos.com/v1',
    'PrometheusRule',
    object(
      {
        groups: list(
          object(
            {
              name: text,
              interval: duration,
              limit: { type: 'integer' },
              labels: words,
              query_offset: duration,
              rules: list(
                object(
                  {
                    record: text,
                    alert: text,
                    expr: { type: ['string', 'integer'] },
                    for: duration,
                    keep_firing_for: duration,
                    labels: words,
                    annotations: words,
                  },
                  ['expr'],
                ),
              ),
            },
            ['name', 'rules'],
          ),
        ),
      },
      ['groups'],
    ),
  ),
  GrafanaDashboard: kind(
    'grafana.integreatly.org/v1beta1',
    'GrafanaDashboard',
    object(
      { folder: text, instanceSelector: selector, configMapRef: object({ name: text, key: text }, ['name', 'key']) },
      ['instanceSelector', 'configMapRef'],
    ),
  ),
};
