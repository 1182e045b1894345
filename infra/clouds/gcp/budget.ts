import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { stackTag } from "../../config/budget.ts";
import type { GcpConfig } from "./schema.ts";

export interface BudgetArgs {
  readonly project: string;
  readonly clusterName: string;
  readonly settings: NonNullable<GcpConfig["budget"]>;
  /** Of every resource of the stack. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A monthly budget of what carries the stack's label. */
export class Budget extends pulumi.ComponentResource {
  constructor(name: string, args: BudgetArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Budget", name, {}, opts);
    const { project, clusterName, settings, labels } = args;
    const apis = ["billingbudgets", "monitoring"].map(
      (api) =>
        new gcp.projects.Service(
          `${name}-${api}`,
          { project, service: `${api}.googleapis.com`, disableOnDestroy: false },
          { parent: this },
        ),
    );
    // Google counts calls of the billing API on a project, and takes none of a user's own without one.
    const billing = new gcp.Provider(
      `${name}-billing`,
      { project, billingProject: project, userProjectOverride: true },
      { parent: this },
    );
    const channels = settings.emails.map(
      (address, index) =>
        new gcp.monitoring.NotificationChannel(
          `${name}-${index}`,
          { project, type: "email", displayName: `Budget of ${clusterName}`, labels: { email_address: address } },
          { parent: this, dependsOn: apis },
        ),
    );
    new gcp.billing.Budget(
      name,
      {
        billingAccount: settings.billingAccount,
        displayName: `${clusterName} monthly`,
        budgetFilter: { labels: { stack: stackTag(labels) }, calendarPeriod: "MONTH" },
        amount: { specifiedAmount: { units: String(settings.monthly) } },
        thresholdRules: [
          ...settings.percents.map((percent) => ({ thresholdPercent: percent / 100, spendBasis: "CURRENT_SPEND" })),
          { thresholdPercent: 1, spendBasis: "FORECASTED_SPEND" },
        ],
        allUpdatesRule: { monitoringNotificationChannels: channels.map(({ id }) => id) },
      },
      { parent: this, provider: billing, dependsOn: apis },
    );
  }
}
