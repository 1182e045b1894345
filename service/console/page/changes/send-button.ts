import { useEffect, useRef, useState } from "preact/hooks";
import type { ChangeRequest } from "../api.ts";
import { useChanges, useSession } from "../context.ts";
import { html } from "../html.ts";
import { MissingScope } from "../parts.ts";
import { isRunning, type RunBefore, stateText } from "./changes.ts";

/** Why the reader cannot change tables; nothing if they can. */
export const WhyNoChange = ({ scope = "manage" }: { scope?: "manage" | "write" }) => {
  const { me } = useSession();
  if (me.writes !== true)
    return html`<p class="notice locked">
      This service takes no writes, so the console cannot change tables: <code>LAKEHEAD_WRITES=on</code> turns them on.
    </p>`;
  return me.scopes.includes(scope) ? null : html`<${MissingScope} scope=${scope} />`;
};

export const mayChange = (
  me: { readonly writes?: boolean; readonly scopes: readonly string[] },
  scope: "manage" | "write" = "manage",
): boolean => me.writes === true && me.scopes.includes(scope);

interface ConfirmProps {
  readonly title: string;
  readonly request: ChangeRequest;
  readonly send: () => void;
  readonly close: () => void;
}

/** Shows the request as it will be sent. Escape and Cancel close it. */
const Confirm = ({ title, request, send, close }: ConfirmProps) => {
  const { api } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { path, body } = api.changeText(request);
  const confirm = (): void => {
    dialog.current?.close();
    send();
  };
  return html`<dialog ref=${dialog} aria-labelledby="confirm-title" onClose=${close}>
    <h2 id="confirm-title">${title}</h2>
    <p>The console sends this request with your credentials:</p>
    <pre class="request" tabindex="0">${`POST ${path}\n${body}`}</pre>
    <p class="muted">It can take minutes, and cannot be cancelled.</p>
    <div class="buttons">
      <button type="button" class="primary" onClick=${confirm}>Send</button>
      <button type="button" autofocus onClick=${() => dialog.current?.close()}>Cancel</button>
    </div>
  </dialog>`;
};

interface SendProps {
  readonly label: string;
  /** For a reader who hears the label without its surroundings. */
  readonly description?: string;
  readonly title: string;
  readonly request: ChangeRequest;
  readonly before?: RunBefore | undefined;
}

/** A button that sends a change of a table after one question. */
export const SendButton = ({ label, description, title, request, before }: SendProps) => {
  const { changes } = useSession();
  const list = useChanges();
  const [asking, setAsking] = useState(false);
  const wanted = JSON.stringify(request);
  const last = list.find((change) => JSON.stringify(change.request) === wanted);
  const running = last !== undefined && isRunning(last);
  return html`<button
      type="button"
      aria-label=${description}
      disabled=${running}
      onClick=${() => setAsking(true)}
    >
      ${running ? "Running …" : label}
    </button>
    ${last !== undefined && html`<span class="muted"> ${stateText(last)}: see the list above</span>`}
    ${
      asking &&
      html`<${Confirm}
        title=${title}
        request=${request}
        send=${() => void changes.send(title, request, before)}
        close=${() => setAsking(false)}
      />`
    }`;
};
