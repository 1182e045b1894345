/**
 * What follows the name of each view in its address: `#/table/prod%24docs`. Parts with a question mark may be absent.
 * `table` is the id of a table, `run` that of a run in the history whose result is shown, `job` that of a job.
 */
const shapes = {
  tables: [],
  table: ["table"],
  query: ["table", "run?"],
  map: ["table"],
  recall: ["table"],
  upload: ["table?"],
  maintenance: [],
  jobs: ["job?"],
  history: [],
  open: [],
  compare: ["before", "after"],
} as const;

type Shapes = typeof shapes;
export type ViewName = keyof Shapes;

export const viewNames = Object.keys(shapes) as ViewName[];

type Needed<Part> = Part extends `${string}?` ? never : Part;
type Optional<Part> = Part extends `${infer Name}?` ? Name : never;

/** A view of the console, by the fragment of its address. */
export type RouteOf<View extends ViewName> = { readonly view: View } & {
  readonly [Part in Needed<Shapes[View][number]>]: string;
} & {
  readonly [Part in Optional<Shapes[View][number]>]?: string | undefined;
} & {
  /** The state of the view: `?filter=id+%3E+5&page=2`. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
};
export type Route = { [View in ViewName]: RouteOf<View> }[ViewName];

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const isView = (name: string | undefined): name is ViewName => Object.hasOwn(shapes, name ?? "");

/** @returns the list of tables for a fragment that is not known. */
export const parseRoute = (fragment: string): Route => {
  const [path = "", search] = fragment.replace(/^#?\/?/, "").split("?");
  const [view, ...given] = path.split("/");
  if (!isView(view)) return { view: "tables" };
  const parts: Record<string, string> = {};
  for (const [at, shape] of shapes[view].entries()) {
    const text = given[at];
    if (text) parts[shape.replace("?", "")] = decode(text);
    else if (!shape.endsWith("?")) return { view: "tables" };
  }
  const fields = search === undefined ? {} : { fields: Object.fromEntries(new URLSearchParams(search)) };
  return { view, ...parts, ...fields } as unknown as Route;
};

export const addressOf = (route: Route): string => {
  const given = route as Readonly<Record<string, unknown>>;
  const parts = shapes[route.view].flatMap((shape) => given[shape.replace("?", "")] ?? []);
  const search = route.fields === undefined ? "" : `?${new URLSearchParams(route.fields)}`;
  return `#/${[route.view, ...parts].map((part) => encodeURIComponent(String(part))).join("/")}${search}`;
};
