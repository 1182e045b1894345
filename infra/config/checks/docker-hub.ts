import { errorIf, type Finding } from "../report.ts";

/** The cache has credentials of Docker Hub as a whole or not at all. */
export function checkDockerHub(
  { cache, username }: { readonly cache: boolean; readonly username?: string | undefined },
  secrets: ReadonlySet<string>,
  { required }: { readonly required: boolean },
): Finding[] {
  const hasToken = secrets.has("dockerHubToken");
  const wanted = cache && (required || username !== undefined || hasToken);
  return [
    ...errorIf(
      wanted && username === undefined,
      "dockerHub.username",
      "the cache pulls from Docker Hub only with an account and its token",
      "write the name of an account on Docker Hub",
    ),
    ...errorIf(
      wanted && !hasToken,
      "dockerHubToken",
      "the cache pulls from Docker Hub only with an account and its token",
      "pulumi config set --secret dockerHubToken <access token, read-only>",
    ),
  ];
}
