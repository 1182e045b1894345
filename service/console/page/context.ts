import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { ConsoleSettings } from "../index-page.ts";
import type { Api, Me } from "./api.ts";
import type { Change, Changes } from "./changes/changes.ts";

/** What every view of a signed-in reader uses. */
export interface Session {
  readonly api: Api;
  readonly me: Me;
  readonly settings: ConsoleSettings;
  readonly changes: Changes;
}

const context = createContext<Session | undefined>(undefined);

export const SessionProvider = context.Provider;

export const useSession = (): Session => {
  const session = useContext(context);
  if (session === undefined) throw new Error("a view is outside of SessionProvider");
  return session;
};

/** The changes that this tab has sent, the newest first. */
export const useChanges = (): readonly Change[] => {
  const { changes } = useSession();
  const [list, setList] = useState(changes.list);
  useEffect(() => {
    setList(changes.list);
    return changes.subscribe(() => setList(changes.list));
  }, [changes]);
  return list;
};
