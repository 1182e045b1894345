/** Where a Helm chart comes from, so that mirrors and directories work as well as the publisher's repository. */
export interface ChartLocation {
  /** `https://…` of a repository, `oci://…` that the name is joined to, or empty when the name is a path. */
  readonly repository: string;
  readonly name: string;
}

export interface ChartInputs {
  readonly chart: string;
  readonly version: string;
  readonly repositoryOpts?: { readonly repo: string };
}

/** The part of a Helm release's inputs that says which chart, at an exact version. */
export function chartInputs({ repository, name }: ChartLocation, version: string): ChartInputs {
  if (repository.startsWith("oci://")) return { chart: `${repository.replace(/\/+$/, "")}/${name}`, version };
  if (repository === "") return { chart: name, version };
  return { chart: name, version, repositoryOpts: { repo: repository } };
}
