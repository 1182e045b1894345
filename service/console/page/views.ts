import { CompareView } from "./compare/compare-view.ts";
import { HistoryView } from "./history-view.ts";
import { type Children, html } from "./html.ts";
import { JobsView } from "./jobs-view.ts";
import { MaintenanceView } from "./maintenance-view.ts";
import { MapView } from "./map/map-view.ts";
import { OpenView } from "./open-view.ts";
import { QueryView } from "./query/query-view.ts";
import { RecallView } from "./recall/recall-view.ts";
import type { Route, RouteOf, ViewName } from "./route.ts";
import { TableView } from "./table/table-view.ts";
import { TablesView } from "./tables-view.ts";
import { UploadView } from "./upload/upload-view.ts";

interface View<Name extends ViewName> {
  readonly title: string;
  /** Where the navigation has a link: always, or beside the name of a table; absent: nowhere. */
  readonly link?: "always" | "table";
  readonly render: (route: RouteOf<Name>) => Children;
}

/** The views in the order of the navigation. Their addresses are in `route.ts`. */
export const views: { readonly [Name in ViewName]: View<Name> } = {
  tables: { title: "Tables", link: "always", render: () => html`<${TablesView} />` },
  table: { title: "Table", render: ({ table }) => html`<${TableView} table=${table} />` },
  query: { title: "Query", link: "table", render: ({ table }) => html`<${QueryView} table=${table} />` },
  map: { title: "Map", link: "table", render: ({ table }) => html`<${MapView} table=${table} />` },
  recall: { title: "Recall", link: "table", render: ({ table }) => html`<${RecallView} table=${table} />` },
  upload: { title: "Upload", link: "always", render: ({ table }) => html`<${UploadView} table=${table} />` },
  maintenance: { title: "Maintenance", link: "always", render: () => html`<${MaintenanceView} />` },
  // Maintenance and the list of changes lead there: the navigation has no more room on a small screen.
  jobs: { title: "Jobs", render: ({ job }) => html`<${JobsView} job=${job} />` },
  history: { title: "History", link: "always", render: () => html`<${HistoryView} />` },
  open: { title: "Open a plan", link: "always", render: () => html`<${OpenView} />` },
  compare: {
    title: "Comparison",
    render: ({ before, after }) => html`<${CompareView} before=${before} after=${after} />`,
  },
};

export const viewOf = (route: Route): Children => (views[route.view] as View<ViewName>).render(route as never);

/** The views whose links are at a place, in order. */
export const linked = (place: "always" | "table"): readonly ViewName[] =>
  (Object.keys(views) as ViewName[]).filter((name) => views[name].link === place);
