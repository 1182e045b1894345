import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { scopes } from "../../service/auth/index.ts";
import { type ErrorCode, errorKinds } from "../../service/errors.ts";
import { makeDirectory } from "../support/directory.ts";
import { possible } from "../support/matrix.ts";
import type { Answer } from "../support/request.ts";
import { staticToken } from "../support/static-token.ts";

/** A caller's second call at a time is throttled. */
export const crowdedEnvironment = { LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "1" } as const;

/** No process listens at the issuer's address. */
export const issuerAwayEnvironment = {
  LAKEHEAD_AUTH_ISSUER: "http://127.0.0.1:9/",
  LAKEHEAD_AUTH_AUDIENCE: "lakehead",
} as const;

/** A token for that issuer. */
export const fakeJwt = ["eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ", "eyJzdWIiOiJ4In0", "c2ln"].join(".");

/** A token with every scope on no table. */
export const nothing = "token-for-nothing";
export const nowhere = staticToken("nowhere", nothing, scopes, []);

/** The error codes that an operation can answer, by its label. */
export const errorCodesOf = (label: string): readonly ErrorCode[] =>
  (possible[label] ?? []).filter((code) => code !== "ok") as ErrorCode[];

/** Corrupts the manifests of a table. */
export const breakTable = async (directory: string): Promise<void> => {
  const versions = join(directory, "_versions");
  for (const file of await readdir(versions)) await writeFile(join(versions, file), "not a manifest");
};

/** A database with a corrupt list of namespaces. */
export const brokenRoot = async (): Promise<string> => {
  const home = await makeDirectory();
  await cp(inject("tables"), home, { recursive: true });
  await breakTable(join(home, "__manifest"));
  return home;
};

/** Sends bursts until two requests overlap. */
export const throttled = async (send: (round: number) => Promise<Answer>): Promise<Answer> => {
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all(Array.from({ length: 24 }, () => send(round)));
    const refused = answers.find(({ status }) => status === 429);
    if (refused !== undefined) return refused;
  }
  throw new Error("no burst was throttled");
};

export const checkError = (
  { status, body }: Answer,
  code: ErrorCode,
  expected: number = errorKinds[code].status,
): void => {
  expect(body).toMatchObject({ code });
  expect(status).toBe(code === 0 ? 405 : expected);
  expect(JSON.stringify(body), "native text, a path or a source location").not.toMatch(
    /cargo|lance-\d|\.rs:|lakehead-test-|\/tmp\//,
  );
};
