/**
 * The parts of a Kubernetes object that injection reads or writes; every other field passes through untouched. It must not grow into
 * a copy of the API: what is not named here is `unknown` on purpose.
 */
export interface EnvVar {
  readonly name: string;
  readonly value?: string | null;
  readonly valueFrom?: unknown;
}
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly [field: string]: unknown;
}
export interface Port {
  readonly name?: string;
  readonly containerPort: number;
  readonly [field: string]: unknown;
}
export interface SecurityContext {
  readonly runAsUser?: number | null;
  readonly runAsGroup?: number | null;
  readonly runAsNonRoot?: boolean;
  readonly seLinuxOptions?: unknown;
  readonly windowsOptions?: unknown;
  readonly [field: string]: unknown;
}
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly EnvVar[] | null;
  readonly volumeMounts?: readonly VolumeMount[] | null;
  readonly ports?: readonly Port[] | null;
  readonly securityContext?: SecurityContext | null;
  readonly restartPolicy?: string;
  readonly [field: string]: unknown;
}
export interface Volume {
  readonly name: string;
  readonly [field: string]: unknown;
}
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly {
      readonly matchExpressions?: readonly {
        readonly key: string;
        readonly operator?: string;
        readonly values?: readonly string[] | null;
      }[];
    }[];
  };
}
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[] | null;
  readonly ephemeralContainers?: readonly Container[] | null;
  /** Of the whole pod (Kubernetes 1.34), beside those of its containers. */
  readonly resources?: Resources | null;
  readonly affinity?: { readonly nodeAffinity?: NodeAffinity } | null;
  readonly volumes?: readonly Volume[] | null;
  readonly securityContext?: SecurityContext | null;
  readonly terminationGracePeriodSeconds?: number | null;
  readonly restartPolicy?: string;
  readonly nodeSelector?: Readonly<Record<string, string>> | null;
  readonly os?: { readonly name?: string } | null;
  readonly [field: string]: unknown;
}
export interface Metadata {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
  readonly [field: string]: unknown;
}
/** What stands below `spec.template` of a workload, or a Pod itself. */
export interface PodTemplate {
  readonly metadata?: Metadata | null;
  readonly spec: PodSpec;
  readonly [field: string]: unknown;
}
