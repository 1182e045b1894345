import { useMemo, useState } from "preact/hooks";
import { diagnose } from "../../plan-doctor/diagnose.ts";
import type { Facts, PlanDocument } from "../../plan-doctor/types.ts";
import { html } from "./html.ts";
import { Failure } from "./parts.ts";
import { PlanView } from "./plan/plan-view.ts";
import { planTextOf } from "./query/report.ts";
import type { Run } from "./query/runs.ts";

/** Nothing of a table is known from a text. */
const noFacts: Facts = { version: null, statistics: null, columns: null, indices: null, missing: [] };

const noQuery = { k: "unlimited", withRowId: false, fastSearch: false } as const;

const documentOf = (text: string): PlanDocument => {
  const plan = planTextOf(text);
  return { plan, ...diagnose(plan, noQuery, noFacts, "table"), facts: noFacts };
};

/** A plan from elsewhere: pasted text, or a file that the console saved. It leaves the browser at no time. */
export const OpenView = () => {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>();
  const plan = useMemo(() => (text.trim() === "" ? undefined : documentOf(text)), [text]);
  const open = (file: File | undefined): void => {
    if (file === undefined) return;
    file.text().then(setText, setError);
  };
  const run: Run = { id: "opened", table: "", kind: "analyze", query: {}, at: 0, tookMs: 0 };
  return html`<section class="panel wide">
      <header><h1>Open a plan</h1></header>
      <p class="muted">
        Paste what <code>explain_plan</code> or <code>analyze_plan</code> printed, or choose a file that this console saved. It stays in
        this browser.
      </p>
      <label for="open-text">Text of a plan</label>
      <textarea
        id="open-text"
        rows="4"
        spellcheck=${false}
        value=${text}
        onInput=${(event: Event) => setText((event.target as HTMLTextAreaElement).value)}
      ></textarea>
      <label for="open-file">File</label>
      <input
        id="open-file"
        type="file"
        accept=".html,.txt,.json,text/*"
        onChange=${(event: Event) => open((event.target as HTMLInputElement).files?.[0])}
      />
      ${error !== undefined && html`<${Failure} error=${error} />`}
    </section>
    ${plan !== undefined && html`<${PlanView} key=${text} plan=${plan} run=${run} />`}`;
};
