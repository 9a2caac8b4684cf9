/** The kinds whose strict schemas are made from the types of Kubernetes 1.30. */
import type { DaemonSet, Deployment, StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { CronJob, Job } from 'kubernetes-types/batch/v1.d.ts';
import type { ConfigMap, Pod } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';

export interface Kinds {
  ConfigMap: ConfigMap;
  CronJob: CronJob;
  DaemonSet: DaemonSet;
  Deployment: Deployment;
  Job: Job;
  NetworkPolicy: NetworkPolicy;
  Pod: Pod;
  StatefulSet: StatefulSet;
}
