import { useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import { mayChange, SendButton, WhyNoChange } from "../changes/send-button.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { dimensionsOf } from "../schema.ts";

const distances = ["l2", "cosine", "dot"] as const;

/** Types that fit a column, the usual one first. */
export const indexTypesOf = (field: JsonField): readonly string[] => {
  const { type } = field.type;
  if (dimensionsOf(field) !== undefined) return ["IVF_PQ", "IVF_HNSW_SQ", "IVF_HNSW_PQ", "IVF_FLAT"];
  if (/utf8|string/.test(type)) return ["BTREE", "BITMAP", "FTS"];
  if (/list/.test(type)) return ["LABEL_LIST"];
  return /struct|map|binary|blob/.test(type) ? [] : ["BTREE", "BITMAP"];
};

const numeric = [
  ["num_partitions", "Partitions"],
  ["num_sub_vectors", "Sub-vectors"],
] as const;

interface Props {
  readonly table: string;
  readonly branch: string | undefined;
  readonly fields: readonly JsonField[];
}

/** Makes an index of a column, after the request was shown. */
export const CreateIndex = ({ table, branch, fields }: Props) => {
  const { me } = useSession();
  const indexed = fields.filter((field) => indexTypesOf(field).length > 0);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  if (!mayChange(me)) return html`<${WhyNoChange} />`;
  const field = indexed.find(({ name }) => name === values.column) ?? indexed[0];
  if (field === undefined) return null;
  const types = indexTypesOf(field);
  const type = types.find((known) => known === values.type) ?? types[0] ?? "";
  const isVector = type.startsWith("IVF");
  const used = isVector ? numeric.filter(([key]) => key === "num_partitions" || type.endsWith("PQ")) : [];
  const invalid = used.some(([key]) => !/^\d*$/.test(values[key] ?? ""));
  const numbers = used.flatMap(([key]) => (values[key] ? [[key, Number(values[key])] as const] : []));
  const body = {
    column: field.name,
    index_type: type,
    ...(isVector ? { distance_type: values.distance ?? distances[0] } : {}),
    ...Object.fromEntries(numbers),
    ...(values.name ? { name: values.name } : {}),
    ...(branch === undefined ? {} : { branch }),
  };
  const set = (key: string) => (event: Event) =>
    setValues({ ...values, [key]: (event.target as HTMLInputElement).value });
  const select = (key: string, label: string, options: readonly string[], value: string) =>
    html`<label>${label}<select value=${value} onChange=${set(key)}>
      ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}
    </select></label>`;
  const input = (key: string, label: string, placeholder: string) =>
    html`<label>${label}<input value=${values[key] ?? ""} placeholder=${placeholder} onInput=${set(key)} /></label>`;
  return html`<details class="create-index">
    <summary>Create an index</summary>
    <div class="index-form" role="group" aria-label="Create an index">
      ${select(
        "column",
        "Index column",
        indexed.map(({ name }) => name),
        field.name,
      )}
      ${select("type", "Index type", types, type)}
      ${isVector && select("distance", "Distance", distances, values.distance ?? distances[0])}
      ${used.map(([key, label]) => input(key, label, "automatic"))}
      ${input("name", "Index name", `${field.name}_idx`)}
      ${
        invalid
          ? html`<span class="problem" role="alert">Partitions and sub-vectors must be whole numbers.</span>`
          : html`<${SendButton}
              label="Create"
              description="Create the index"
              title=${`Create an index of ${field.name}`}
              request=${{ table, operation: isVector ? "create_index" : "create_scalar_index", body }}
            />`
      }
    </div>
  </details>`;
};
