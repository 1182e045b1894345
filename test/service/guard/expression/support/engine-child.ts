/** The real engine in its own process, so that an expression that ends it is a result and does not end the test. */
import type { Outcome, Trial } from "./engine.ts";
import { makeExpressionTable } from "./table.ts";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: engine-child <directory>");

const table = await makeExpressionTable(directory, "t");

const attempt = async ({ expression, as }: Trial): Promise<Outcome> => {
  try {
    const query = table.query();
    const shaped = as === "filter" ? query.where(expression) : query.select({ value: expression });
    await shaped.limit(10).explainPlan(true);
    await shaped.limit(10).analyzePlan();
    return { kind: "accepted" };
  } catch (error) {
    return { kind: "refused", message: error instanceof Error ? error.message : String(error) };
  }
};

process.on("message", async (trial: Trial) => process.send?.(await attempt(trial)));
process.send?.({ kind: "ready" });
