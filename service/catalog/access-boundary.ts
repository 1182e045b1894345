import { ServiceError } from "../errors.ts";
import type { Place } from "./place.ts";
import type { Right } from "./rights.ts";

/** The rights of a role, of which the token's own account has the same or more. */
export const boundaryRoles: Readonly<Record<Right, string>> = {
  read: "roles/storage.objectViewer",
  write: "roles/storage.objectUser",
};

/** What Google accepts. */
const maxLength = 2048;

/**
 * The condition of a token for the files of one table, in CEL. A prefix has only characters that mean themselves in a
 * string: {@link Place}. A list needs the prefix with its slash, as on S3.
 */
export const boundaryExpression = ({ bucket, prefix }: Place): string =>
  `resource.name.startsWith('projects/_/buckets/${bucket}/objects/${prefix}') || ` +
  `api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('${prefix}')`;

/** @throws ServiceError code 0 for a name that is too long. */
export const accessBoundary = (place: Place, right: Right): string => {
  const expression = boundaryExpression(place);
  if (expression.length > maxLength)
    throw new ServiceError(0, {
      message:
        "credentials cannot be lent for this table: its id is too long for an access boundary; send vend_credentials: false",
    });
  return JSON.stringify({
    accessBoundary: {
      accessBoundaryRules: [
        {
          availableResource: `//storage.googleapis.com/projects/_/buckets/${place.bucket}`,
          availablePermissions: [`inRole:${boundaryRoles[right]}`],
          availabilityCondition: { expression },
        },
      ],
    },
  });
};
