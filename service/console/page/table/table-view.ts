import { useMemo, useState } from "preact/hooks";
import type { Statistics, VersionEntry } from "../../../query/answers.ts";
import type { Description } from "../api.ts";
import { isRunning } from "../changes/changes.ts";
import { mayChange } from "../changes/send-button.ts";
import { useChanges, useSession } from "../context.ts";
import { formatBytes, formatCount } from "../format.ts";
import { html } from "../html.ts";
import { useLoad } from "../load.ts";
import { MissingScope, Panel } from "../parts.ts";
import { addressOf } from "../route.ts";
import { typeName } from "../schema.ts";
import { useBrowse } from "./browse.ts";
import { AddComputed, Computed, computedBy, ViewOf } from "./computed.ts";
import { CreateIndex } from "./create-index.ts";
import { Fragments } from "./fragments.ts";
import { type Index, Indices, loadIndices } from "./indices.ts";
import { RowsPanel } from "./rows-panel.ts";
import type { Tag } from "./timeline.ts";
import { Versions } from "./versions.ts";

const fact = (name: string, value: string) => html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`;

const Numbers = ({ statistics, version }: { statistics: Statistics; version: number | undefined }) =>
  html`<dl class="facts">
    ${fact("rows", formatCount(statistics.num_rows))} ${fact("size", formatBytes(statistics.total_bytes))}
    ${fact("fragments", formatCount(statistics.fragment_stats.num_fragments))}
    ${fact("indices", formatCount(statistics.num_indices))}
    ${version !== undefined && fact("version", formatCount(version))}
  </dl>`;

interface SchemaProps {
  readonly table: string;
  readonly branch: string | undefined;
  readonly description: Description;
}

const Schema = ({ table, branch, description }: SchemaProps) => {
  const hasComputed = description.schema.fields.some((field) => computedBy(field) !== undefined);
  return html`<${ViewOf} table=${table} description=${description} />
  <div class="scroll tall" tabindex="0" role="region" aria-label="Columns"><table class="columns">
    <thead><tr><th>Column</th><th>Type</th><th>Nullable</th>${hasComputed && html`<th>Computed by</th>`}</tr></thead>
    <tbody>
      ${description.schema.fields.map(
        (field) => html`<tr key=${field.name}>
          <th scope="row">${field.name}</th>
          <td><code>${typeName(field.type)}</code></td>
          <td>${field.nullable ? "yes" : "no"}</td>
          ${hasComputed && html`<td><${Computed} table=${table} branch=${branch} field=${field} /></td>`}
        </tr>`,
      )}
    </tbody>
  </table></div>
  <${AddComputed} table=${table} branch=${branch} />`;
};

interface History {
  readonly versions: readonly VersionEntry[];
  /** Undefined without the scope. */
  readonly tags: readonly Tag[] | undefined;
}

export const TableView = ({ table }: { table: string }) => {
  const { api, me } = useSession();
  const may = (scope: string): boolean => me.scopes.includes(scope);
  const [browse, put] = useBrowse(table);
  const { branch } = browse;
  // An index that this tab made or dropped is in the next answers.
  const running = useChanges().filter(isRunning).length;
  const inputs = [api, table, branch, running];
  const branches = useLoad((signal) => api.branches(table, signal).catch(() => []), [api, table]);
  const [round, setRound] = useState(0);
  const again = (): void => setRound(round + 1);
  // One for the panels and the rows: other rows are those of the newest version, whose schema may be another.
  const describing = useMemo(() => api.describe(table, undefined, branch), [...inputs, browse, round]);
  const description = { ...useLoad(() => describing, [describing]), reload: again };
  const statistics = useLoad(
    (signal) => (may("stats") ? api.statistics(table, signal, branch) : new Promise<Statistics>(() => {})),
    inputs,
  );
  const indices = useLoad((signal) => loadIndices(api, table, signal, branch), inputs);
  const history = useLoad<History>(async (signal) => {
    const [versions, tags] = await Promise.all([
      api.versions(table, signal, branch),
      may("tags:read") ? api.tags(table, signal) : undefined,
    ]);
    const named = tags && Object.entries(tags).map(([name, tag]) => ({ name, ...tag }));
    return { versions, tags: named };
  }, inputs);
  const names = [...new Set([...(branches.value ?? []), ...(branch === undefined ? [] : [branch])])];
  return html`<div class="title">
      <h1>${table}</h1>
      ${
        names.length > 0 &&
        html`<label class="flag-field">Branch
          <select
            value=${branch ?? ""}
            onChange=${(event: Event) => put({ ...browse, page: 0, branch: (event.target as HTMLSelectElement).value || undefined })}
          >
            <option value="">main</option>
            ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select></label
        >`
      }
      <a class="button" href=${addressOf({ view: "query", table, ...(branch === undefined ? {} : { fields: { branch, prefilter: "true" } }) })}>Query</a>
      <a class="button" href=${addressOf({ view: "recall", table })}>Recall</a>
      ${mayChange(me, "write") && branch === undefined && html`<a class="button" href=${addressOf({ view: "upload", table })}>Add rows</a>`}
    </div>
    <div class="panels">
      <${RowsPanel} table=${table} describing=${describing} again=${again} browse=${browse} put=${put} />
      <${Panel} title="Statistics" scope="stats" loaded=${statistics}>
        ${(value: Statistics) => html`<${Numbers} statistics=${value} version=${description.value?.version} />`}
      </${Panel}>
      <${Panel} title="Fragments" scope="stats" loaded=${statistics}>
        ${(value: Statistics) => html`<${Fragments} statistics=${value.fragment_stats} />`}
      </${Panel}>
      <${Panel} title="Schema" loaded=${description}>
        ${(value: Description) => html`<${Schema} table=${table} branch=${branch} description=${value} />`}
      </${Panel}>
      <${Panel} title="Indices" loaded=${indices} wide>
        ${(value: readonly Index[]) => html`
          <${Indices} table=${table} branch=${branch} indices=${value} />
          ${description.value !== undefined && html`<${CreateIndex} table=${table} branch=${branch} fields=${description.value.schema.fields} />`}
        `}
      </${Panel}>
      <${Panel} title="Versions and tags" loaded=${history} wide>
        ${(value: History) => html`
          ${value.tags === undefined && html`<${MissingScope} scope="tags:read" />`}
          <${Versions} key=${branch} table=${table} branch=${branch} versions=${value.versions} tags=${value.tags ?? []} reload=${history.reload} />
        `}
      </${Panel}>
    </div>`;
};
