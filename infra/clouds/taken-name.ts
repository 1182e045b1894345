/** Whether a name that a stack gives is free, or the stack's own already. Pure. */

import { type Line, type Outcome, ok, unknown, wrong } from "../check-line.ts";

export type Tags = Readonly<Record<string, string>>;

/** The tags or labels by which a stack knows what is its own. */
export interface OwnTags {
  readonly stack: string;
  readonly "managed-by": string;
}

export const isOwn = (tags: Tags, own: OwnTags): boolean =>
  tags.stack === own.stack && tags["managed-by"] === own["managed-by"];

export interface Named {
  readonly what: "bucket" | "cluster" | "repository" | "role";
  readonly key: string;
  readonly name: string;
  /** The key to change, where it is another one. */
  readonly remedyKey?: string;
  readonly byHand: string;
}

/** @param tags of what has the name; undefined when nothing has it */
export function checkName(
  { what, key, remedyKey = key, name, byHand }: Named,
  own: OwnTags,
  tags: Outcome<Tags | undefined>,
): Line {
  if ("failure" in tags) return unknown(`${key}: the ${what} ${name} is not checked (${tags.failure})`, byHand);
  if (tags.value === undefined) return ok(`${key}: no ${what} has the name ${name} yet`);
  return isOwn(tags.value, own)
    ? ok(`${key}: the ${what} ${name} is this stack's`)
    : wrong(
        `${key}: the ${what} ${name} exists and belongs to ${tags.value.stack === undefined ? "something else" : `the stack ${tags.value.stack}`}`,
        `write another lakehead:${remedyKey}`,
      );
}

/** A bucket that the stack uses and does not make. */
export function checkGivenBucket(name: string, byHand: string, tags: Outcome<Tags | undefined>): Line {
  const text = `bucket.name: the bucket ${name}, which exists by bucket.create: false,`;
  if ("failure" in tags) return unknown(`${text} is not checked (${tags.failure})`, byHand);
  return tags.value === undefined
    ? wrong(`${text} does not exist`, "write lakehead:bucket.create: true, or another lakehead:bucket.name")
    : ok(`bucket.name: the bucket ${name} exists`);
}
