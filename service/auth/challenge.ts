import { ServiceError } from "../errors.ts";

const realm = `Bearer realm="lakehead"`;

/**
 * 401 of RFC 6750, section 3. Without a cause: errors of jose and of JSON parsers contain parts of the token.
 * @param description A sentence without quotes and without any part of the token.
 */
export const invalidToken = (description: string): ServiceError =>
  new ServiceError(16, {
    message: `the credentials are not valid: ${description}`,
    headers: { "www-authenticate": `${realm}, error="invalid_token", error_description="${description}"` },
  });

/** 401 for a request without credentials: RFC 6750 allows no error attribute. */
export const noCredentials = (message: string): ServiceError =>
  new ServiceError(16, { message, headers: { "www-authenticate": realm } });

/** 403 that names the missing scope. */
export const insufficientScope = (message: string, scope?: string): ServiceError =>
  new ServiceError(15, {
    message,
    headers: {
      "www-authenticate": `${realm}, error="insufficient_scope"${scope === undefined ? "" : `, scope="${scope}"`}`,
    },
  });
