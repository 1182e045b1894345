/** A refusal in the form in which Google's APIs answer. */
export class Refused extends Error {
  readonly code: number;
  /** As google.rpc.Code names it. */
  readonly status: string;
  /** As the older APIs name it. */
  readonly reason: string;
  readonly details: readonly unknown[];

  constructor(code: number, status: string, reason: string, message: string, details: readonly unknown[] = []) {
    super(message);
    this.code = code;
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

export const invalid = (message: string): Refused => new Refused(400, "INVALID_ARGUMENT", "invalid", message);

export const notFound = (path: string): Refused =>
  new Refused(404, "NOT_FOUND", "notFound", `The resource '${path}' was not found`);
