import { useMemo, useState } from "preact/hooks";
import type { VersionEntry } from "../../../query/answers.ts";
import { useSession } from "../context.ts";
import { formatCount, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { useAction } from "../load.ts";
import { Failure } from "../parts.ts";
import { TagList } from "./tag-list.ts";
import { changeOf, flagsOf, flagText, type Tag, timelineMarks } from "./timeline.ts";

/** Versions of a page of the list. */
const pageSize = 50;

interface TagControls {
  readonly create: (tag: string, version: number) => void;
  readonly move: (tag: string, version: number) => void;
  readonly remove: (tag: string) => void;
  readonly busy: boolean;
  readonly permitted: boolean;
}

const Timeline = ({ versions, tags }: { versions: readonly VersionEntry[]; tags: readonly Tag[] }) => {
  const marks = useMemo(() => timelineMarks(versions, tags), [versions, tags]);
  const [first, last] = [versions[0], versions.at(-1)];
  return html`<div class="timeline">
    <svg viewBox="0 0 1000 56" preserveAspectRatio="none" aria-hidden="true">
      <line x1="10" x2="990" y1="44" y2="44" />
      ${marks.map(
        ({ version, at, tags }) =>
          html`<line key=${version} class=${tags.length > 0 ? "tagged" : "mark"} x1=${10 + at * 980} x2=${10 + at * 980} y1=${tags.length > 0 ? 22 : 38} y2="50" />`,
      )}
    </svg>
    ${flagsOf(marks).map(
      (flag) =>
        html`<span key=${flag.at} class="flag" title=${flag.tags.join(", ")} style=${{ left: `${1 + flag.at * 98}%` }}>${flagText(flag)}</span>`,
    )}
    <p class="ends"><span>${first && formatTime(first.timestamp_millis)}</span><span>${last && formatTime(last.timestamp_millis)}</span></p>
  </div>`;
};

const TagChip = ({ tag, controls }: { tag: Tag; controls: TagControls }) => {
  const [confirming, setConfirming] = useState(false);
  return html`<span class="chip">
    ${tag.name}${
      controls.permitted &&
      (confirming
        ? html`<button type="button" class="danger" disabled=${controls.busy} onClick=${() => controls.remove(tag.name)}>
              Delete ${tag.name}</button
            ><button type="button" onClick=${() => setConfirming(false)}>Keep</button>`
        : html`<button type="button" aria-label=${`Delete the tag ${tag.name}`} onClick=${() => setConfirming(true)}>×</button>`)
    }
  </span>`;
};

const AddTag = ({ version, tags, controls }: { version: number; tags: readonly Tag[]; controls: TagControls }) => {
  const [name, setName] = useState<string | undefined>();
  if (name === undefined)
    return html`<button type="button" class="quiet" aria-label=${`Tag version ${version}`} onClick=${() => setName("")}>+ tag</button>`;
  const existing = tags.find((tag) => tag.name === name);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (existing === undefined) controls.create(name, version);
    else controls.move(name, version);
    setName(undefined);
  };
  return html`<form class="inline" onSubmit=${submit}>
    <input
      aria-label=${`Name of the tag for version ${version}`}
      list="tag-names"
      value=${name}
      ref=${(input: HTMLInputElement | null) => name === "" && input?.focus()}
      onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
    />
    <button type="submit" disabled=${name === "" || controls.busy}>
      ${existing === undefined ? "Create tag" : `Move from version ${existing.version}`}
    </button>
    <button type="button" class="quiet" onClick=${() => setName(undefined)}>Cancel</button>
  </form>`;
};

interface VersionsProps {
  readonly table: string;
  readonly branch: string | undefined;
  readonly versions: readonly VersionEntry[];
  readonly tags: readonly Tag[];
  readonly reload: () => void;
}

export const Versions = ({ table, branch, versions, tags, reload }: VersionsProps) => {
  const { api, me } = useSession();
  const { busy, error, run } = useAction();
  const act = (action: () => Promise<unknown>): void => {
    void run(async () => {
      await action();
      reload();
    });
  };
  const controls: TagControls = {
    create: (tag, version) => act(() => api.createTag(table, tag, version, branch)),
    move: (tag, version) => act(() => api.moveTag(table, tag, version, branch)),
    remove: (tag) => act(() => api.deleteTag(table, tag)),
    busy,
    permitted: me.scopes.includes("tags:write"),
  };
  const [page, setPage] = useState(0);
  const end = versions.length - page * pageSize;
  const start = Math.max(0, end - pageSize);
  const here = useMemo(() => tags.filter((tag) => tag.branch === branch), [tags, branch]);
  return html`<${Timeline} versions=${versions} tags=${here} />
    ${error !== undefined && html`<${Failure} error=${error} />`}
    ${!controls.permitted && html`<p class="muted">To create, move or delete tags you need the scope <code>tags:write</code>.</p>`}
    <datalist id="tag-names">${tags.map(({ name }) => html`<option key=${name} value=${name} />`)}</datalist>
    <div class="scroll" tabindex="0" role="region" aria-label="List of versions"><table>
      <thead>
        <tr><th class="number">Version</th><th>Time</th><th class="number">Rows</th><th class="number">Fragments</th><th class="number">Deleted rows</th><th>Change</th><th>Tags</th></tr>
      </thead>
      <tbody>
        ${versions
          .slice(start, end)
          .map((entry, index) => {
            const { version, timestamp_millis: time, metadata } = entry;
            return html`<tr key=${version}>
            <th scope="row" class="number">${version}</th>
            <td>${formatTime(time)}</td>
            <td class="number">${formatCount(numberOf(metadata.total_rows))}</td>
            <td class="number">${formatCount(numberOf(metadata.total_fragments))}</td>
            <td class="number">${formatCount(numberOf(metadata.total_deletion_file_rows))}</td>
            <td>${changeOf(entry, versions[start + index - 1])}</td>
            <td>
              ${here
                .filter((tag) => tag.version === version)
                .map((tag) => html`<${TagChip} key=${tag.name} tag=${tag} controls=${controls} />`)}
              ${controls.permitted && html`<${AddTag} version=${version} tags=${tags} controls=${controls} />`}
            </td>
          </tr>`;
          })
          .toReversed()}
      </tbody>
    </table></div>
    ${
      versions.length > pageSize &&
      html`<p class="buttons">
        <span role="status">Versions ${versions[start]?.version} to ${versions[end - 1]?.version} of ${formatCount(versions.length)}</span>
        <button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Newer versions</button>
        <button type="button" disabled=${start === 0} onClick=${() => setPage(page + 1)}>Older versions</button>
      </p>`
    }
    ${tags.length > 0 && html`<${TagList} tags=${tags} busy=${busy} permitted=${controls.permitted} move=${controls.move} />`}`;
};

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
