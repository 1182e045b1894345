import { expect, test } from "vitest";
import { costOf, hours, renderCost } from "../../../infra/offline-plan/cost.ts";
import { type PriceRow, parsePrices } from "../../../infra/offline-plan/prices.ts";
import { cluster, entry, nodeGroup, planWith } from "./plans.ts";

const row = (item: string, usd: number, more: Partial<PriceRow> = {}): PriceRow => ({
  cloud: "aws",
  region: "eu-central-1",
  item,
  usd,
  per: "hour",
  date: "2026-01-02",
  source: "https://prices.invalid/",
  ...more,
});

const template = "aws:ec2/launchTemplate:LaunchTemplate::cpu";
const plan = planWith(
  entry("pulumi:providers:aws::aws", { inputs: { region: "eu-central-1" } }),
  entry(cluster),
  entry(template, { inputs: { blockDeviceMappings: [{ ebs: { volumeSize: 100, volumeType: "gp3" } }] } }),
  entry(nodeGroup, {
    inputs: {
      nodeGroupNamePrefix: "cpu-",
      instanceTypes: ["c7i.4xlarge", "c6i.4xlarge"],
      capacityType: "SPOT",
      scalingConfig: { minSize: 1, maxSize: 3 },
    },
    references: { launchTemplate: [template] },
  }),
);
const rows = [
  row("control plane", 0.1, { region: "*" }),
  row("c7i.4xlarge spot", 0.4),
  row("disk gp3", 0.1, { per: "GiB-month", date: "2026-03-04" }),
];

test("nodes and their disks count from the pool's minimum to its maximum", () => {
  const { lines, missing, dates } = costOf(plan, rows);
  expect(missing).toEqual([]);
  expect(dates).toEqual(["2026-01-02", "2026-03-04"]);
  const sums = lines.map(({ group, idle, maximum }) => [group, Math.round(idle), Math.round(maximum)]);
  expect(sums).toEqual([
    ["nodes of cpu", Math.round(0.4 * hours), Math.round(1.2 * hours)],
    ["control plane", Math.round(0.1 * hours), Math.round(0.1 * hours)],
    ["disks of nodes", 10, 30],
  ]);
});

test("an item without a row of its region is named and not in the sum, and a later row wins", () => {
  const elsewhere = [row("control plane", 0.1, { region: "*" }), row("c7i.4xlarge spot", 9, { region: "us-east-1" })];
  const printed = renderCost(costOf(plan, [...elsewhere, row("disk gp3", 1), row("disk gp3", 2)]));
  expect(printed).toContain("no price: c7i.4xlarge spot in eu-central-1 (1 to 3); add a row by --prices <file>");
  expect(printed).toMatch(/^\| sum without what has no price \| /m);
  expect(printed).toContain("100 to 300 × disk gp3 at 2 an hour");
});

test.each([
  ["{", /^own\.json: .*; write JSON as in infra\/offline-plan\/prices\.json$/],
  ['{"rows":[{"cloud":"azure"}]}', /^own\.json: rows\.0\.cloud: /],
  [JSON.stringify({ rows: [row("disk gp3", -1)] }), /^own\.json: rows\.0\.usd: /],
  [JSON.stringify({ rows: [row("disk gp3", 1, { date: "today" })] }), /^own\.json: rows\.0\.date: a date such as /],
])("a file of prices is refused by key: %s", (text, message) => {
  expect(() => parsePrices(text, "own.json")).toThrow(message);
});
