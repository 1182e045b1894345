/** The location of a Helm chart: the publisher's repository, a mirror or a directory. */
export interface ChartLocation {
  /** `https://…` of a repository, `oci://…` to which the name is appended, or empty when the name is a path. */
  readonly repository: string;
  readonly name: string;
}

export interface ChartInputs {
  readonly chart: string;
  readonly version: string;
  readonly repositoryOpts?: { readonly repo: string };
}

/** The inputs of a Helm release that select the chart at an exact version. */
export function chartInputs({ repository, name }: ChartLocation, version: string): ChartInputs {
  if (repository.startsWith("oci://")) return { chart: `${repository.replace(/\/+$/, "")}/${name}`, version };
  if (repository === "") return { chart: name, version };
  return { chart: name, version, repositoryOpts: { repo: repository } };
}
