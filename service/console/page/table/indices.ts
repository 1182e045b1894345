import type { IndexEntry, IndexStatistics } from "../../../query/answers.ts";
import type { Api } from "../api.ts";
import { mayChange, SendButton } from "../changes/send-button.ts";
import { useSession } from "../context.ts";
import { formatBytes, formatCount, formatShare } from "../format.ts";
import { html } from "../html.ts";

export type Index = IndexEntry & Partial<Pick<IndexStatistics, "distance_type" | "num_indices">>;

/** The indices of a table with the statistics of each. */
export const loadIndices = async (
  api: Api,
  table: string,
  signal: AbortSignal,
  branch: string | undefined,
): Promise<readonly Index[]> => {
  const indices = await api.indices(table, signal, branch);
  // The statistics of an index are those of main.
  if (branch !== undefined) return indices;
  return Promise.all(
    indices.map(async (index) => ({ ...index, ...(await api.indexStatistics(table, index.index_name, signal)) })),
  );
};

/** Indexed rows as a share of all; undefined if not known or without rows. */
export const coverageOf = ({ num_indexed_rows: indexed, num_unindexed_rows: unindexed }: Index): number | undefined => {
  if (indexed === undefined || unindexed === undefined || indexed + unindexed === 0) return undefined;
  return indexed / (indexed + unindexed);
};

const row = (index: Index, drop: (name: string) => unknown) => {
  const coverage = coverageOf(index);
  const unindexed = index.num_unindexed_rows ?? 0;
  return html`<tr key=${index.index_name}>
    <th scope="row">${index.index_name}</th>
    <td>${index.columns.join(", ")}</td>
    <td>${index.index_type}${index.distance_type !== undefined && `, ${index.distance_type}`}</td>
    <td class="bar coverage">
      ${
        coverage !== undefined &&
        html`<div
          role="img"
          aria-label=${`${formatShare(coverage)} of the rows are indexed`}
          class=${unindexed > 0 ? "part" : "full"}
          style=${{ width: `${coverage * 100}%` }}
        ></div>`
      }
    </td>
    <td class="number">${unindexed > 0 ? `${formatCount(unindexed)} rows not indexed` : formatShare(coverage)}</td>
    <td class="number">${index.num_indices === undefined ? "" : index.num_indices}</td>
    <td class="number">${index.size_bytes === undefined ? "" : formatBytes(index.size_bytes)}</td>
    <td>${drop(index.index_name)}</td>
  </tr>`;
};

interface Props {
  readonly table: string;
  readonly branch: string | undefined;
  readonly indices: readonly Index[];
}

export const Indices = ({ table, branch, indices }: Props) => {
  const { me } = useSession();
  const search = branch === undefined ? "" : `?branch=${encodeURIComponent(branch)}`;
  const drop = (name: string) =>
    mayChange(me) &&
    html`<${SendButton}
      label="Drop"
      description=${`Drop the index ${name}`}
      title=${`Drop the index ${name}: searches then read all rows`}
      request=${{ table, operation: `index/${encodeURIComponent(name)}/drop${search}`, body: {} }}
    />`;
  if (indices.length === 0) return html`<p class="muted">No index: every search reads all rows.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="List of indices"><table>
    <thead>
      <tr><th>Index</th><th>Columns</th><th>Type</th><th>Coverage</th><td></td><th class="number">Parts</th><th class="number">Size</th><td></td></tr>
    </thead>
    <tbody>${indices.map((index) => row(index, drop))}</tbody>
  </table></div>`;
};
