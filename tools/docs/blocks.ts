import type { Setting } from "../../service/config/settings.ts";
import { settings } from "../../service/config/variables.ts";
import { errorKinds, transportStatuses } from "../../service/errors.ts";
import { operations } from "../../service/operations/index.ts";
import { addressOf } from "../../service/operations/operation.ts";
import { type MetricDefinition, metricDefinitions } from "../../service/telemetry/metric-definitions.ts";
import clientCases from "../../test/clients/matrix.json" with { type: "json" };
import { clientVersions, matrixRows, served } from "../../test/clients/matrix.ts";
import { deviationRows } from "../../test/contract/table.ts";
import { durationTable } from "../../test/e2e/providers/durations-table.ts";
import { configTable } from "./stack-keys.ts";

/** The parts of the README that are made from the code: each stands between two markers that name it. */
const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...head), row(...head.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");

const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

const variables = (): string =>
  table(
    ["variable", "meaning", "default"],
    Object.entries(settings as Readonly<Record<string, Setting<unknown>>>).map(
      ([name, { description, defaultText }]) => [
        code(name),
        description,
        // Prose defaults ("the number of CPUs") are no code.
        defaultText === undefined ? "" : defaultText.includes(" ") ? defaultText : code(defaultText),
      ],
    ),
  );

const operationTable = (): string =>
  table(
    ["operation", "address", "method", "scope"],
    operations.map((operation) => [
      operation.summary,
      code(addressOf(operation)),
      operation.methods.join(", "),
      operation.scope === null ? "any" : code(operation.scope),
    ]),
  );

const errorTable = (): string =>
  table(
    ["code", "name", "status"],
    [
      ...Object.entries(errorKinds).map(([number, { name, status }]) => [number, name, String(status)]),
      ...Object.entries(transportStatuses).map(([kind, { status, code: number }]) => [
        String(number),
        kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
        String(status),
      ]),
    ],
  );

const metricTable = (): string =>
  table(
    ["metric", "type", "labels", "meaning"],
    Object.entries<MetricDefinition>(metricDefinitions).map(([name, { type, labels, help }]) => [
      code(name),
      type,
      labels.map(code).join(", "),
      help,
    ]),
  );

/** Cases that each client passed, as the last stored run of `npm run test:clients` saw them. */
const clientMatrix = (): string => {
  const [head = [], ...rows] = matrixRows(clientCases);
  const cells = rows.map(([operation = "", ...counts]) => [
    served.includes(operation) ? code(operation) : operation,
    ...counts,
  ]);
  return `${table(head, cells)}\n\n${clientVersions(clientCases)}.`;
};

export const blocks: Readonly<Record<string, () => string>> = {
  variables,
  operations: operationTable,
  errors: errorTable,
  metrics: metricTable,
  "config-keys": configTable,
  durations: durationTable,
  deviations: () => table(["operations", "what differs", "reason"], deviationRows()),
  clients: clientMatrix,
};

const block = (name: string): RegExp => new RegExp(`(<!-- made:${name} -->)[\\s\\S]*?(<!-- end:${name} -->)`);

/** The README with every made part as the code has it now. @throws for a part that has no place in it. */
export const withBlocks = (readme: string): string =>
  Object.entries(blocks).reduce((text, [name, make]) => {
    if (!block(name).test(text))
      throw new Error(`README.md has no place for ${name}: <!-- made:${name} --> … <!-- end:${name} -->`);
    return text.replace(block(name), (_, open: string, close: string) => `${open}\n${make()}\n${close}`);
  }, readme);
