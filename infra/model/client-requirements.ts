import { client } from "../versions.ts";
import type { ClientIdentity } from "./client-parameters.ts";
import type { RaySettings } from "./ray-groups.ts";

/** Packages that the Ray pods install beside geneva, whose version the client adds itself. */
export const podPackages: readonly string[] = [
  `lancedb==${client.lancedb}`,
  `pyarrow==${client.pyarrow}`,
  `pylance==${client.pylance}`,
];

/** What a job of the maintenance installs on the Ray pods. */
export const maintenancePackages: readonly string[] = [
  `lance-ray==${client.lanceRay}`,
  `pylance==${client.pylance}`,
  `pyarrow==${client.pyarrow}`,
];

/** What the runner of Functions and its workers need beside Ray. */
export const functionPackages: readonly string[] = [`pylance==${client.pylance}`, `pyarrow==${client.pyarrow}`];

/**
 * The client's `requirements.txt`. Ray Client refuses a connection between two versions of Ray, and a pickled function
 * needs the pods' Python minor version.
 */
export function clientRequirements(
  { version, image }: Pick<RaySettings, "version" | "image">,
  { extra }: Pick<ClientIdentity, "extra">,
): string {
  return [
    `# Python ${image.python}, as in the image of the Ray pods.`,
    `# geneva ${client.geneva} is proprietary software of LanceDB ("All rights reserved"), not part of this project: ask LanceDB for its terms.`,
    `geneva${extra === undefined ? "" : `[${extra}]`}==${client.geneva}`,
    ...podPackages,
    `ray[client,default]==${version}`,
    "",
  ].join("\n");
}
