import { useState } from "preact/hooks";
import { html } from "../html.ts";
import { CopyButton, Tabs } from "../parts.ts";
import { type Request, snippets } from "./snippets.ts";

const languages = [
  ["curl", "curl"],
  ["python", "Python"],
  ["typescript", "TypeScript"],
] as const;

export const CopyAs = ({ request }: { request: Request }) => {
  const [language, setLanguage] = useState<keyof typeof snippets>("curl");
  const text = snippets[language](request);
  return html`<details class="code">
    <summary>Copy as</summary>
    <${Tabs} label="Language" options=${languages} chosen=${language} choose=${setLanguage} />
    <pre tabindex="0">${text}</pre>
    <${CopyButton} text=${text} />
    <span class="muted">The token comes from the variable LAKEHEAD_TOKEN.</span>
  </details>`;
};
