import { alertAnchor, alertGroups } from "../../infra/model/alerts.ts";
import { boundaryRoles } from "../../service/catalog/access-boundary.ts";
import { rights, scopesOf } from "../../service/catalog/rights.ts";
import { objectActions } from "../../service/catalog/session-policy.ts";
import { variables as environmentVariables } from "../../service/config/schema.ts";
import { errorKinds, transportStatuses } from "../../service/errors.ts";
import { operations } from "../../service/operations/index.ts";
import { addressOf, errorsOf } from "../../service/operations/operation.ts";
import { type Threshold, thresholds } from "../../service/plan-doctor/thresholds.ts";
import { type MetricDefinition, metricDefinitions } from "../../service/telemetry/metric-definitions.ts";
import clientCases from "../../test/clients/matrix.json" with { type: "json" };
import { clientVersions, matrixRows, served } from "../../test/clients/matrix.ts";
import { accepted } from "../../test/cloud-schemas/scanners/accepted.ts";
import { deviationRows } from "../../test/contract/table.ts";
import { clients, stores, operations as tableOperations } from "../../test/stores/token-alone/matrix.ts";
import { inlineCode, markdownTable } from "../markdown-table.ts";
import { allowList } from "./functions.ts";
import { bootstrapTable, configTable } from "./stack-keys.ts";

const variables = (): string =>
  markdownTable(
    ["variable", "meaning", "default"],
    environmentVariables.map(({ name, description, defaultText }) => [
      inlineCode(name),
      description,
      // Prose defaults ("the number of CPUs") are no code.
      defaultText === undefined || defaultText.includes(" ") ? (defaultText ?? "") : inlineCode(defaultText),
    ]),
  );

const operationTable = (): string =>
  markdownTable(
    ["operation", "path", "method", "scope"],
    operations.map((operation) => [
      operation.extension !== undefined ? `Extension: ${operation.summary}` : operation.summary,
      inlineCode(addressOf(operation)),
      operation.methods.join(", "),
      operation.scope === null ? "any" : inlineCode(operation.scope),
    ]),
  );

/** What a lent credential permits, by the scopes of the caller. */
const lentRights = (): string =>
  markdownTable(
    [
      "right",
      "scopes of the caller",
      "S3: on objects of the table",
      "S3: on the bucket",
      "Google: role within the boundary",
      "on anything else",
    ],
    rights.map((right) => [
      right,
      scopesOf[right].map(inlineCode).join(", "),
      objectActions[right].map(inlineCode).join(", "),
      `${inlineCode("s3:ListBucket")} with the table's prefix`,
      inlineCode(boundaryRoles[right]),
      "nothing",
    ]),
  );

/** What each client with a token alone does, as the tests expect it. */
const tokenAlone = (): string => {
  const all = Object.values(clients);
  const gaps = all.flatMap(({ title, without, noRoot, noRenewal, notOn = {} }) => [
    ...Map.groupBy(Object.entries(without), ([, reason]) => reason)
      .entries()
      .map(([reason, entries]) => ({ title, gap: `${entries.map(([operation]) => operation).join(", ")}: ${reason}` })),
    ...(noRoot === undefined ? [] : [{ title, gap: `tables at the root: ${noRoot}` }]),
    ...(noRenewal === undefined ? [] : [{ title, gap: `new credentials: ${noRenewal}` }]),
    ...Object.entries(notOn).map(([store, reason]) => ({ title, gap: `${store}: ${reason}` })),
  ]);
  const reasons = [...Map.groupBy(gaps, ({ gap }) => gap)].map(
    ([gap, of]) => `- Not ${gap} (${of.map(({ title }) => title).join("; ")}).`,
  );
  const table = markdownTable(
    ["client", ...tableOperations, "new credentials during a write", "run on"],
    all.map(({ title, without, noRenewal, notOn = {}, suite }) => [
      title,
      ...tableOperations.map((operation) => (without[operation] === undefined ? "yes" : "–")),
      noRenewal === undefined ? "yes" : "–",
      suite === undefined ? stores.filter((store) => notOn[store] === undefined).join(", ") : "S3",
    ]),
  );
  return `${table}\n\n${reasons.join("\n")}`;
};

const errorTable = (): string =>
  markdownTable(
    ["code", "name", "status", "message, unless a more exact one is sent"],
    Object.entries(errorKinds).map(([code, { name, status, message }]) => [code, name, String(status), message]),
  );

/** The codes that only some operations return; the line below it has those of every operation. */
const operationErrors = (): string => {
  const all = operations.map((operation) => ({ operation, codes: errorsOf(operation).toSorted((a, b) => a - b) }));
  const common = (all[0]?.codes ?? []).filter((code) => all.every(({ codes }) => codes.includes(code)));
  const rows = all.map(({ operation, codes }) => [
    inlineCode(addressOf(operation)),
    codes.filter((code) => !common.includes(code)).join(", "),
  ]);
  return `${markdownTable(["operation", "codes"], rows)}\n\nEvery operation, besides: ${common.join(", ")}.`;
};

const transportTable = (): string =>
  markdownTable(
    ["status", "code", "failure"],
    Object.entries(transportStatuses).map(([kind, { status, code }]) => [
      String(status),
      String(code),
      kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    ]),
  );

const metricTable = (): string =>
  markdownTable(
    ["metric", "type", "labels", "meaning"],
    Object.entries<MetricDefinition>(metricDefinitions).map(([name, { type, labels, help }]) => [
      inlineCode(name),
      type,
      labels.map(inlineCode).join(", "),
      help,
    ]),
  );

/** One row for each alert, with the anchor to which its `runbook_url` leads. */
const alertTable = (): string =>
  markdownTable(
    ["alert", "meaning", "what to do"],
    alertGroups("lancedb").flatMap(({ alerts }) =>
      alerts.map((alert) => [
        `<a id="${alertAnchor(alert)}"></a>${inlineCode(alert.name)}`,
        alert.needs === undefined ? alert.meaning : `${alert.meaning}; needs ${alert.needs}`,
        alert.remedy,
      ]),
    ),
  );

/** Cases that each client passed, as the last stored run of `npm run test:clients` saw them. */
const clientMatrix = (): string => {
  const [head = [], ...rows] = matrixRows(clientCases);
  const cells = rows.map(([operation = "", ...counts]) => [
    served.includes(operation) ? inlineCode(operation) : operation,
    ...counts,
  ]);
  return `${markdownTable(head, cells, ["left", "right"])}\n\n${clientVersions(clientCases)}.`;
};

const deviationTable = (): string => markdownTable(["operations", "what differs", "reason"], deviationRows());

const thresholdTable = (): string =>
  markdownTable(
    ["limit", "of", "reason"],
    Object.values<Threshold>(thresholds).map(({ value, meaning, reason }) => [
      value.toLocaleString("en-US"),
      meaning,
      reason,
    ]),
  );

/** Accepted findings, one row for each reason. */
const scannerFindings = (): string =>
  markdownTable(
    ["finding", "where", "reason"],
    [...Map.groupBy(accepted, ({ reason }) => reason)].map(([reason, entries]) => [
      entries.map(({ scanner, check }) => `${scanner} ${inlineCode(check)}`).join("<br>"),
      [...new Set(entries.flatMap(({ objects }) => objects))].map(inlineCode).join(", "),
      reason,
    ]),
  );

/** Every page that has generated parts, by its path from the repository's root, and what makes each part. */
export const generatedPages: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "docs/catalog.md": { "lent-rights": lentRights, "token-alone": tokenAlone },
  "docs/api.md": { operations: operationTable },
  "docs/errors.md": { errors: errorTable, "operation-errors": operationErrors, transport: transportTable },
  "docs/service-configuration.md": { variables },
  "docs/operations.md": { metrics: metricTable, alerts: alertTable },
  "docs/bootstrap.md": { "bootstrap-keys": bootstrapTable },
  "docs/stack-configuration.md": { "config-keys": configTable },
  "docs/plan-doctor.md": { thresholds: thresholdTable },
  "docs/query-safety.md": { "allow-list": allowList },
  "docs/compatibility.md": { clients: clientMatrix },
  "docs/design/scanner-findings.md": { "scanner-findings": scannerFindings },
  "docs/contract-deviations.md": { deviations: deviationTable },
};

const markers = (name: string): RegExp =>
  new RegExp(`(<!-- generated:${name}[^>]*-->)[\\s\\S]*?(<!-- end:${name} -->)`);

/**
 * A page with its generated parts as the code has them now.
 * @throws for a part whose markers the page lacks.
 */
export const withBlocks = (page: string, text: string): string =>
  Object.entries(generatedPages[page] ?? {}).reduce((whole, [name, make]) => {
    if (!markers(name).test(whole))
      throw new Error(`${page} has no markers for ${name}: <!-- generated:${name} --> … <!-- end:${name} -->`);
    return whole.replace(markers(name), (_, open: string, close: string) => `${open}\n${make()}\n${close}`);
  }, text);

/** A page without its generated parts: what people wrote. */
export const withoutBlocks = (text: string): string =>
  text.replaceAll(/<!-- generated:([\w-]+)[^>]*-->[\s\S]*?<!-- end:\1 -->\n?/g, "");
