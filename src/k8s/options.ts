/** What can be chosen about an injection, and how a refusal reads. */
import type { Resources } from './types.ts';

export interface InjectOptions {
  /** The Tailfin image. There is no default: one that cannot be pulled keeps the host from starting. */
  readonly image: string;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /** Containers whose Node loads the tap; default: the first one. */
  readonly containers?: readonly string[] | undefined;
  /** false for Kubernetes before 1.29: a plain container instead of a native sidecar. */
  readonly native?: boolean | undefined;
  /** Bytes that all event files may take, in MiB. */
  readonly quotaMiB?: number | undefined;
  /** User of the sidecar; null leaves it to the image or the platform (OpenShift). */
  readonly runAsUser?: number | null | undefined;
  readonly resources?: Resources | undefined;
  /** `prometheus.io/*` annotations on the pod. */
  readonly scrapeAnnotations?: boolean | undefined;
}

/** A pod that cannot be injected as it is. `field` is the path below the pod's spec. */
export class InjectRefusal extends Error {
  override readonly name = 'InjectRefusal';
  readonly field: readonly (string | number)[];
  constructor(field: readonly (string | number)[], message: string) {
    super(message);
    this.field = field;
  }
}
