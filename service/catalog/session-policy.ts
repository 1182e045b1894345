import { ServiceError } from "../errors.ts";
import type { Place } from "./place.ts";
import type { Right } from "./rights.ts";

/** Actions on the objects of a table. Parts of an upload are `PutObject`; to abort one is an action of its own. */
export const objectActions: Readonly<Record<Right, readonly string[]>> = {
  read: ["s3:GetObject"],
  write: ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
};

/** What STS accepts. */
const maxLength = 2048;

/**
 * The policy of a session for the files of one table. A list needs the prefix with its slash, so that a table whose name
 * begins with this one's is apart.
 * @throws ServiceError code 0 for a name that is too long.
 */
export const sessionPolicy = (
  { bucket, prefix }: Place,
  right: Right,
  { partition = "aws", kmsKey }: { readonly partition?: string | undefined; readonly kmsKey?: string | undefined } = {},
): string => {
  const resource = `arn:${partition}:s3:::${bucket}`;
  const policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["s3:ListBucket"],
        Resource: [resource],
        Condition: { StringLike: { "s3:prefix": [`${prefix}*`] } },
      },
      { Effect: "Allow", Action: objectActions[right], Resource: [`${resource}/${prefix}*`] },
      // The store asks for it in the name of the session, which otherwise could read no object.
      ...(kmsKey === undefined
        ? []
        : [{ Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey"], Resource: [kmsKey] }]),
    ],
  });
  if (policy.length <= maxLength) return policy;
  throw new ServiceError(0, {
    message:
      "credentials cannot be lent for this table: its id is too long for a session policy; send vend_credentials: false",
  });
};
