import type { DataType, Field } from "apache-arrow";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Api, ApiError } from "../api.ts";
import { mayChange, WhyNoChange } from "../changes/send-button.ts";
import { useSession } from "../context.ts";
import { formatBytes, formatCount } from "../format.ts";
import { html } from "../html.ts";
import { useAction, useLoad } from "../load.ts";
import { Boundary, CopyButton, Failure } from "../parts.ts";
import { addressOf } from "../route.ts";
import { partOf, rowsOf } from "../rows.ts";
import { RowsTable } from "../rows-table.ts";
import { shownColumns } from "../schema.ts";
import type { Prepared, Problem } from "./prepare.ts";
import { fileEndings, readSource } from "./read-file.ts";
import type { Sent } from "./send.ts";
import type { Source } from "./source.ts";

/** The columns of a table by their Arrow types; undefined for a table that is not there. */
const loadTarget = async (api: Api, table: string, signal: AbortSignal): Promise<readonly Field[] | undefined> => {
  const description = await api.describe(table, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  if (description === undefined) return undefined;
  const { fields } = description.schema;
  const { unreadable } = shownColumns(fields);
  const names = fields.filter((field) => !unreadable.includes(field)).map(({ name }) => name);
  // Without rows, but with the types in full: a description has no unit of a time.
  const { tableFromIPC, Field: ArrowField } = await import("apache-arrow");
  const { schema } = tableFromIPC(await api.rows(table, { k: 0, columns: names }, signal));
  return schema.fields.map(({ name, type }) => {
    const nullable = fields.find((field) => field.name === name)?.nullable ?? true;
    return new ArrowField(name, type, nullable);
  });
};

const FileField = ({ choose }: { choose: (file: File | undefined) => void }) => {
  const [over, setOver] = useState(false);
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer?.files[0]);
  };
  const onDragOver = (event: DragEvent): void => {
    event.preventDefault();
    setOver(true);
  };
  return html`<label class=${over ? "drop over" : "drop"} onDrop=${onDrop} onDragOver=${onDragOver} onDragLeave=${() => setOver(false)}>
    <span>Drop a file here, or choose one: CSV with a header, Parquet, or Arrow IPC</span>
    <input
      type="file"
      accept=${fileEndings.map((ending) => `.${ending}`).join(",")}
      onChange=${(event: Event) => choose((event.target as HTMLInputElement).files?.[0])}
    />
  </label>`;
};

const problemText = ({ row, column, reason }: Problem): string =>
  `${row === undefined ? "" : `Row ${formatCount(row)}, `}${column}: ${reason}`;

const Problems = ({ problems, badRows }: { problems: readonly Problem[]; badRows: number }) =>
  html`<div class="notice bad" role="alert">
    <p>${badRows > 0 ? `${formatCount(badRows)} ${badRows === 1 ? "row does" : "rows do"} not fit. The first problems:` : "The file does not fit the table:"}</p>
    <ul>${problems.map((problem) => html`<li key=${problemText(problem)}>${problemText(problem)}</li>`)}</ul>
  </div>`;

interface TypesProps {
  readonly source: Source;
  readonly prepared: Prepared;
  readonly isNew: boolean;
  readonly choose: (column: string, type: DataType) => void;
}

/** The columns with their types. Those of a new table can be chosen where the values allow several. */
const Types = ({ source, prepared, isNew, choose }: TypesProps) => {
  const raw = source.kind === "values" ? source.columns : [];
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="Columns of the file"><table class="columns">
    <thead><tr><th>Column</th><th>Type</th></tr></thead>
    <tbody>
      ${prepared.fields.map(({ name, type }) => {
        const types = raw.find((column) => column.name === name)?.types ?? [];
        const select = (event: Event): void => {
          const chosen = types[Number((event.target as HTMLSelectElement).value)];
          if (chosen !== undefined) choose(name, chosen);
        };
        return html`<tr key=${name}>
          <th scope="row">${name}</th>
          <td>
            ${
              isNew && types.length > 1
                ? html`<select aria-label=${`Type of ${name}`} onChange=${select}>
                    ${types.map((each, at) => html`<option key=${at} value=${at} selected=${String(each) === String(type)}>${String(each)}</option>`)}
                  </select>`
                : html`<code>${String(type)}</code>`
            }
          </td>
        </tr>`;
      })}
      ${prepared.missing.map((name) => html`<tr key=${name}><th scope="row">${name}</th><td class="muted">not in the file: null</td></tr>`)}
    </tbody>
  </table></div>`;
};

/** Rows that are drawn before they are sent. */
const previewRows = 20;

/** The columns and the first rows as they will be sent. */
const Preview = (props: TypesProps) => {
  const { table } = props.prepared;
  const rows = useMemo(() => table && rowsOf(partOf(table, 0, previewRows)), [table]);
  return html`<${Types} ...${props} />
    ${rows !== undefined && html`<${RowsTable} rows=${rows} caption="First rows of the file" />`}`;
};

interface FileOfRows {
  readonly file: File;
  readonly source: Source;
}

/** Rows of a file for a new table, or for one that exists. */
export const UploadView = ({ table: chosenTable }: { table: string | undefined }) => {
  const { api, me } = useSession();
  const [table, setTable] = useState(chosenTable ?? "");
  const [opened, setOpened] = useState<FileOfRows | undefined>();
  const [types, setTypes] = useState<Readonly<Record<string, DataType>>>({});
  const [skip, setSkip] = useState(false);
  const [sent, setSent] = useState<Sent | undefined>();
  const reading = useAction();
  const sending = useAction();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const tables = useLoad((signal) => api.tables(signal), [api]);
  const exists = tables.value?.includes(table) === true;
  const target = useLoad(
    async (signal) => (exists ? { table, fields: await loadTarget(api, table, signal) } : { table, fields: undefined }),
    [api, table, exists],
  );
  const isReady = tables.value !== undefined && target.value?.table === table && !target.loading;
  const scope = exists ? "write" : "manage";
  const maySend = mayChange(me, "write") || mayChange(me, "manage");
  const preparing = useLoad(async () => {
    if (opened === undefined || !isReady) return undefined;
    const { prepare } = await import("./prepare.ts");
    return prepare(opened.source, target.value?.fields, types);
  }, [opened, target.value, isReady, types]);
  const prepared = preparing.loading ? undefined : preparing.value;

  const choose = (file: File | undefined): void => {
    if (file === undefined) return;
    setOpened(undefined);
    setTypes({});
    setSkip(false);
    setSent(undefined);
    void reading.run(async () => setOpened({ file, source: await readSource(file) }));
  };
  const name = (event: Event): void => {
    const text = (event.target as HTMLInputElement).value.trim();
    setTable(text);
    setSent(undefined);
    history.replaceState(null, "", addressOf({ view: "upload", table: text === "" ? undefined : text }));
  };
  const send = (): void => {
    const all = prepared?.table;
    if (all === undefined) return;
    const controller = new AbortController();
    abort.current = controller;
    setSent({ rows: 0, version: undefined });
    void sending.run(async () => {
      const { sendRows } = await import("./send.ts");
      await sendRows(api, table, !exists, all, setSent, controller.signal);
      setOpened(undefined);
      tables.reload();
    });
  };
  const isDone = sent !== undefined && !sending.busy && sending.error === undefined && opened === undefined;
  const isBlocked =
    prepared === undefined ||
    table === "" ||
    !mayChange(me, scope) ||
    sending.busy ||
    prepared.columns.length > 0 ||
    (prepared.badRows > 0 && !skip);
  const rowsText = (rows: number): string => (rows === 1 ? "1 row" : `${formatCount(rows)} rows`);
  const count = rowsText(prepared?.table?.numRows ?? 0);
  return html`<section class="panel wide">
    <header><h1>Upload</h1><${CopyButton} text=${location.href} label="Copy link" /></header>
    ${
      maySend &&
      html`<div class="upload-form">
            <label for="upload-table">Table</label>
            <input id="upload-table" list="upload-tables" autocomplete="off" spellcheck=${false} value=${table} onInput=${name} />
            <datalist id="upload-tables">${tables.value?.map((id) => html`<option key=${id} value=${id} />`)}</datalist>
            <p class="muted" role="status">
              ${table === "" ? "The name of a table that exists, or of a new one" : exists ? "Its rows stay, and those of the file are added" : "A new table"}
            </p>
            <${FileField} choose=${choose} />
          </div>`
    }
    ${tables.value !== undefined && !mayChange(me, scope) && (table !== "" || !maySend) && html`<${WhyNoChange} scope=${scope} />`}
    ${[tables, target, preparing, reading, sending].map(
      ({ error }, at) => error !== undefined && html`<${Failure} key=${at} error=${error} />`,
    )}
    ${reading.busy && html`<p role="status">Reading the file …</p>`}
    ${
      isDone &&
      html`<p class="notice" role="status">
        ${rowsText(sent.rows)} ${sent.rows === 1 ? "is" : "are"} in <a href=${addressOf({ view: "table", table })}>${table}</a>, version ${formatCount(sent.version)}.
      </p>`
    }
    ${
      opened !== undefined &&
      prepared !== undefined &&
      html`<h2>${opened.file.name}, ${formatBytes(opened.file.size)}</h2>
        ${prepared.columns.length > 0 && html`<${Problems} problems=${prepared.columns} badRows=${0} />`}
        ${prepared.badRows > 0 && html`<${Problems} problems=${prepared.values} badRows=${prepared.badRows} />`}
        <${Boundary}>
          <${Preview} source=${opened.source} prepared=${prepared} isNew=${!exists} choose=${(column: string, type: DataType) => setTypes({ ...types, [column]: type })} />
        </${Boundary}>
        ${
          prepared.badRows > 0 &&
          html`<label class="flag-field"
            ><input type="checkbox" checked=${skip} onChange=${() => setSkip(!skip)} /> Leave out what does not fit</label
          >`
        }
        <div class="buttons">
          <button type="button" class="primary" disabled=${isBlocked} onClick=${send}>
            ${exists ? `Add ${count}` : `Create the table with ${count}`}
          </button>
          ${
            sending.busy &&
            html`<progress aria-label="Rows sent" max=${prepared.table?.numRows ?? 0} value=${sent?.rows ?? 0}></progress>
              <span role="status">${formatCount(sent?.rows)} of ${count}</span>
              <button type="button" onClick=${() => abort.current?.abort()}>Cancel</button>`
          }
        </div>`
    }
  </section>`;
};
