import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { stackTag } from "../../config/budget.ts";
import type { AwsConfig } from "./schema.ts";

export interface BudgetArgs {
  readonly clusterName: string;
  readonly settings: NonNullable<AwsConfig["budget"]>;
  /** Of every resource of the stack. */
  readonly tags: Readonly<Record<string, string>>;
}

/** A monthly budget of what carries the stack's tag. AWS counts a tag from the day on which the account activates it. */
export class Budget extends pulumi.ComponentResource {
  constructor(name: string, { clusterName, settings, tags }: BudgetArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Budget", name, {}, opts);
    const alert = (notificationType: "ACTUAL" | "FORECASTED", threshold: number) => ({
      notificationType,
      threshold,
      thresholdType: "PERCENTAGE",
      comparisonOperator: "GREATER_THAN",
      subscriberEmailAddresses: settings.emails,
    });
    new aws.budgets.Budget(
      name,
      {
        name: `${clusterName}-monthly`,
        budgetType: "COST",
        timeUnit: "MONTHLY",
        limitAmount: String(settings.monthly),
        limitUnit: "USD",
        costFilters: [{ name: "TagKeyValue", values: [`user:stack$${stackTag(tags)}`] }],
        notifications: [...settings.percents.map((percent) => alert("ACTUAL", percent)), alert("FORECASTED", 100)],
      },
      { parent: this },
    );
  }
}
