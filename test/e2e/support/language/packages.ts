import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface ProviderPackage {
  readonly name: string;
  readonly version: string;
}

/** The provider packages that a project's `node_modules` holds: those whose package.json says so. */
export function providerPackages(root: string): ProviderPackage[] {
  const scope = join(root, "node_modules", "@pulumi");
  if (!existsSync(scope)) return [];
  return readdirSync(scope).flatMap((folder) => {
    const file = join(scope, folder, "package.json");
    if (!existsSync(file)) return [];
    const { version, pulumi } = JSON.parse(readFileSync(file, "utf8")) as {
      version: string;
      pulumi?: { resource?: boolean; name?: string; version?: string };
    };
    return pulumi?.resource === true ? [{ name: pulumi.name ?? folder, version: pulumi.version ?? version }] : [];
  });
}
