/** Plans requests through the real SDK and measures their CPU time. Argument: an empty directory for the tables. */
import { Index, type Query, type Table, type VectorQuery } from "@lancedb/lancedb";
import { makeExpressionTable } from "../../test/service/guard/expression/support/table.ts";
import { serveTasks } from "../task-process.ts";
import type { PlanCost, PlanTask } from "./tasks.ts";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: child <directory>");

const plain = await makeExpressionTable(directory, "plain");
const indexed = await makeExpressionTable(directory, "indexed");
await indexed.createIndex("id", { config: Index.btree() });
await indexed.createIndex("s", { config: Index.btree() });
await indexed.createIndex("x", { config: Index.btree() });
await indexed.createIndex("tags", { config: Index.labelList() });

const build = (table: Table, { shape, filter, aliases }: PlanTask): Query | VectorQuery => {
  const query = shape === "scan" ? table.query() : table.query().nearestTo([1, 2, 3, 4]).column("vector");
  if (filter !== undefined) query.where(filter);
  if (shape === "search" && filter !== undefined) (query as VectorQuery).postfilter();
  if (aliases.length > 0) query.select(new Map(aliases.map((alias, index) => [`a${index}`, alias])));
  return query.limit(10);
};

const measure = async (task: PlanTask): Promise<PlanCost> => {
  let cpuMs = Number.POSITIVE_INFINITY;
  let planned = true;
  for (let run = 0; run < 2; run++) {
    const before = process.cpuUsage();
    await build(task.indexed ? indexed : plain, task)
      .explainPlan(true)
      .catch(() => {
        planned = false;
      });
    const { user, system } = process.cpuUsage(before);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
  }
  return { cpuMs, planned };
};

serveTasks(measure);
