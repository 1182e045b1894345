import { useState } from "preact/hooks";
import { html } from "../html.ts";
import type { Tag } from "./timeline.ts";

/** Names that are drawn at once. */
const maxShown = 200;

interface Props {
  readonly tags: readonly Tag[];
  readonly busy: boolean;
  readonly permitted: boolean;
  readonly move: (tag: string, version: number) => void;
}

const Move = ({ tag, busy, move }: { tag: Tag } & Pick<Props, "busy" | "move">) => {
  const [text, setText] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    move(tag.name, Number(text));
    setText("");
  };
  return html`<form class="inline" onSubmit=${submit}>
    <input
      class="number-input"
      inputmode="numeric"
      aria-label=${`New version of the tag ${tag.name}`}
      placeholder="version"
      value=${text}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)}
    />
    <button type="submit" disabled=${busy || !/^[1-9]\d*$/.test(text)} aria-label=${`Move the tag ${tag.name}`}>Move</button>
  </form>`;
};

/** All tags by name, also those of versions that no page of the list has. */
export const TagList = ({ tags, busy, permitted, move }: Props) => {
  const [filter, setFilter] = useState("");
  const found = tags.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  const shown = found.toSorted((left, right) => (left.name < right.name ? -1 : 1)).slice(0, maxShown);
  return html`<details class="tag-list">
    <summary>All tags: ${tags.length}</summary>
    <input
      type="search"
      placeholder="Filter"
      aria-label="Filter tags by name"
      value=${filter}
      onInput=${(event: InputEvent) => setFilter((event.target as HTMLInputElement).value)}
    />
    ${found.length > maxShown && html`<p class="muted">The first ${maxShown} of ${found.length} are shown: narrow the filter.</p>`}
    <div class="scroll tall" tabindex="0" role="region" aria-label="All tags"><table>
      <thead><tr><th>Tag</th><th class="number">Version</th><th>Branch</th>${permitted && html`<th>Move to</th>`}</tr></thead>
      <tbody>
        ${shown.map(
          (tag) => html`<tr key=${tag.name}>
            <th scope="row">${tag.name}</th>
            <td class="number">${tag.version}</td>
            <td>${tag.branch ?? "main"}</td>
            ${permitted && html`<td><${Move} tag=${tag} busy=${busy} move=${move} /></td>`}
          </tr>`,
        )}
      </tbody>
    </table></div>
  </details>`;
};
