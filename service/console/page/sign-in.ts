import { useState } from "preact/hooks";
import type { ConsoleSettings } from "../index-page.ts";
import { html } from "./html.ts";
import { signInProblem, startSignIn } from "./oidc.ts";

interface Props {
  readonly settings: ConsoleSettings;
  /** Why the reader is here again. */
  readonly reason: string | undefined;
  readonly onToken: (token: string) => void;
}

export const SignIn = ({ settings, reason, onToken }: Props) => {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(reason);
  const { signIn } = settings;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (token.trim() !== "") onToken(token.trim());
  };
  const redirect = (): void => {
    if (signIn === undefined) return;
    setProblem(undefined);
    startSignIn(signIn).catch((error: unknown) => setProblem(signInProblem(error)));
  };
  return html`<main class="sign-in">
    <h1>Lakehead console</h1>
    ${problem !== undefined && html`<p class="notice bad" role="alert">${problem}</p>`}
    ${
      signIn !== undefined &&
      html`<button type="button" class="primary" onClick=${redirect}>Sign in with ${new URL(signIn.issuer).host}</button>
        <p class="or">or with a token</p>`
    }
    <form onSubmit=${submit}>
      <label for="token">Access token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        spellcheck=${false}
        value=${token}
        onInput=${(event: InputEvent) => setToken((event.target as HTMLInputElement).value)}
      />
      <button type="submit" class=${signIn === undefined ? "primary" : ""} disabled=${token.trim() === ""}>Sign in</button>
    </form>
    <p class="muted">The token stays in this tab until you close it or sign out.</p>
  </main>`;
};
