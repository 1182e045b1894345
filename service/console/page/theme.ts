import { useEffect, useState } from "preact/hooks";
import { html } from "./html.ts";

const key = "lakehead.theme";
const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? "system";

/** Switches between the system's colours, light and dark. */
export const ThemeButton = () => {
  const [theme, setTheme] = useState(stored);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(key, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  return html`<button type="button" class="quiet" onClick=${() => setTheme(next)}>
    Colours: ${theme}
  </button>`;
};
