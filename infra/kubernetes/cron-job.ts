import type * as kubernetes from "@pulumi/kubernetes";

type Spec = kubernetes.types.input.batch.v1.CronJobSpec;

export interface CronJobSettings {
  /** Cron schedule, in UTC. */
  readonly schedule: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: kubernetes.types.input.core.v1.PodSpec;
  /** Seconds after which a job is ended. */
  readonly seconds: number;
  readonly retries: number;
}

/** A CronJob of which one job runs at a time. */
export const cronJobSpec = ({ schedule, labels, pod, seconds, retries }: CronJobSettings): Spec => ({
  schedule,
  timeZone: "Etc/UTC",
  concurrencyPolicy: "Forbid",
  startingDeadlineSeconds: 600,
  successfulJobsHistoryLimit: 1,
  failedJobsHistoryLimit: 3,
  jobTemplate: {
    spec: {
      backoffLimit: retries,
      activeDeadlineSeconds: seconds,
      template: { metadata: { labels: { ...labels } }, spec: pod },
    },
  },
});
