import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ConsoleSettings } from "../index-page.ts";
import type { Api, Me } from "./api.ts";

/** What every view of a signed-in reader uses. */
export interface Session {
  readonly api: Api;
  readonly me: Me;
  readonly settings: ConsoleSettings;
}

const context = createContext<Session | undefined>(undefined);

export const SessionProvider = context.Provider;

export const useSession = (): Session => {
  const session = useContext(context);
  if (session === undefined) throw new Error("a view is outside of SessionProvider");
  return session;
};
