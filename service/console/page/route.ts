/** The views of the console by the fragment of its address: `#/table/prod%24docs`. */
export type Route =
  | { readonly view: "tables" }
  | { readonly view: "recall"; readonly table: string }
  /** @param fields which rows are shown: `?filter=id+%3E+5&page=2`. */
  | {
      readonly view: "table";
      readonly table: string;
      readonly fields?: Readonly<Record<string, string>> | undefined;
    }
  /**
   * @param run id of a run in the history whose result is shown, and whose query fills the form without `fields`.
   * @param fields the text of each field of the form: `?k=10&filter=id+%3E+5`.
   */
  | {
      readonly view: "query";
      readonly table: string;
      readonly run?: string | undefined;
      readonly fields?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly view: "history" | "maintenance" | "open" }
  | { readonly view: "compare"; readonly before: string; readonly after: string };

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** @returns the list of tables for a fragment that is not known. */
export const parseRoute = (fragment: string): Route => {
  const [path = "", search] = fragment.replace(/^#?\/?/, "").split("?");
  const [view, first, second] = path.split("/");
  const table = decode(first ?? "");
  const fields = search === undefined ? {} : { fields: Object.fromEntries(new URLSearchParams(search)) };
  if (view === "recall" && table !== "") return { view, table };
  if (view === "table" && table !== "") return { view, table, ...fields };
  if (view === "query" && table !== "") return { view, table, ...(second ? { run: decode(second) } : {}), ...fields };
  if (view === "history" || view === "maintenance" || view === "open") return { view };
  if (view === "compare" && first && second) return { view, before: decode(first), after: decode(second) };
  return { view: "tables" };
};

const parts = (route: Route): readonly string[] => {
  switch (route.view) {
    case "tables":
    case "history":
    case "maintenance":
    case "open":
      return [route.view];
    case "table":
    case "recall":
      return [route.view, route.table];
    case "query":
      return [route.view, route.table, ...(route.run === undefined ? [] : [route.run])];
    case "compare":
      return [route.view, route.before, route.after];
  }
};

export const addressOf = (route: Route): string => {
  const search = "fields" in route && route.fields !== undefined ? `?${new URLSearchParams(route.fields)}` : "";
  return `#/${parts(route).map(encodeURIComponent).join("/")}${search}`;
};
