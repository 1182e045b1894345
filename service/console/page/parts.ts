import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api.ts";
import { useSession } from "./context.ts";
import { type Children, html } from "./html.ts";
import type { Loaded } from "./load.ts";

/** A failure as the reader should see it: a missing scope is no error. */
export const Failure = ({ error, retry }: { error: unknown; retry?: () => void }) => {
  if (error instanceof ApiError && error.status === 403)
    return html`<${MissingScope} scope=${error.scope} reason=${error.message} />`;
  const { message } = error as Error;
  const detail = error instanceof ApiError ? error.detail : undefined;
  return html`<div class="notice bad" role="alert">
    <p>${message}</p>
    ${detail !== undefined && html`<p class="muted">${detail}</p>`}
    ${error instanceof ApiError && error.status >= 500 && html`<p class="muted">Request ${error.requestId}</p>`}
    ${retry !== undefined && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
};

export const MissingScope = ({ scope, reason }: { scope?: string | undefined; reason?: string }) =>
  html`<p class="notice locked">
    ${scope === undefined ? (reason ?? "Not permitted.") : html`Requires the scope <code>${scope}</code>, which your credentials lack.`}
  </p>`;

/** A fault of the console itself ends the part that it is in, not the page. */
export class Boundary extends Component<{ children: Children }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  render() {
    const { error } = this.state;
    const retry = (): void => this.setState({ error: undefined });
    return error === undefined ? this.props.children : html`<${Failure} error=${error} retry=${retry} />`;
  }
}

/** Renders inside of a boundary, which catches only what its descendants throw. */
const Rendered = ({ content }: { content: () => Children }) => content();

interface PanelProps<T> {
  readonly title: string;
  /** Scope that the content requires. */
  readonly scope?: string;
  readonly loaded: Loaded<T>;
  readonly extra?: Children;
  readonly wide?: boolean;
  readonly children: (value: T) => Children;
}

/** A part of a view with a title and a content that is loaded. */
export const Panel = <T>({ title, scope, loaded, extra, wide, children }: PanelProps<T>) => {
  const { me } = useSession();
  const permitted = scope === undefined || me.scopes.includes(scope);
  const { value, error, loading, reload } = loaded;
  const content = () => {
    if (!permitted) return html`<${MissingScope} scope=${scope} />`;
    if (value !== undefined) return children(value);
    return error === undefined ? html`<p class="muted">Loading …</p>` : null;
  };
  return html`<section class=${wide === true ? "panel wide" : "panel"} aria-busy=${permitted && loading}>
    <header><h2>${title}</h2>${extra}</header>
    <${Boundary}><${Rendered} content=${content} /></${Boundary}>
    ${permitted && error !== undefined && html`<${Failure} error=${error} retry=${reload} />`}
  </section>`;
};

/** Copies a text; says so for two seconds. */
export const CopyButton = ({ text, label = "Copy" }: { text: string; label?: string }) => {
  const [said, setSaid] = useState("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(copied ? "Copied" : "The browser refused: select the text and copy it");
    clearTimeout(timer.current);
    timer.current = setTimeout(setSaid, 2000, "") as unknown as number;
  };
  return html`<button type="button" class="quiet" onClick=${copy}>${label}</button
    ><span class="muted" role="status">${said}</span>`;
};

/** One of several views of the same thing. */
export const Tabs = <T extends string>({
  label,
  options,
  chosen,
  choose,
}: {
  label: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  choose: (value: T) => void;
}) =>
  html`<div class="tabs" role="group" aria-label=${label}>
    ${options.map(
      ([value, text]) =>
        html`<button type="button" key=${value} aria-pressed=${value === chosen} onClick=${() => choose(value)}>
          ${text}
        </button>`,
    )}
  </div>`;
