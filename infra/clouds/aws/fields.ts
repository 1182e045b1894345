import { z } from "zod";

/** The ARN of something of a service. */
export const arn = (service: string, example: string) =>
  z
    .string({ error: `an ARN such as ${example}` })
    .regex(new RegExp(`^arn:aws[a-z-]*:${service}:`), { error: `an ARN such as ${example}` });
