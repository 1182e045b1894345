import { ServiceError } from "../errors.ts";

const realm = `Bearer realm="lakehead"`;

/**
 * 401 as RFC 6750 section 3 has it. No cause is kept: jose's errors carry the claims, a JSON parser's the token's text.
 * @param description One of our own sentences without quotes; never a part of the token.
 */
export const invalidToken = (description: string): ServiceError =>
  new ServiceError(16, {
    message: `the credentials are not valid: ${description}`,
    headers: { "www-authenticate": `${realm}, error="invalid_token", error_description="${description}"` },
  });

/** 401 for a request that presents nothing: no error attribute, says RFC 6750. */
export const noCredentials = (message: string): ServiceError =>
  new ServiceError(16, { message, headers: { "www-authenticate": realm } });

/** 403 that names the scope to ask the issuer for. */
export const insufficientScope = (message: string, scope?: string): ServiceError =>
  new ServiceError(15, {
    message,
    headers: {
      "www-authenticate": `${realm}, error="insufficient_scope"${scope === undefined ? "" : `, scope="${scope}"`}`,
    },
  });
