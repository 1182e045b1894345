import { createHash } from "node:crypto";
import { z } from "zod";
import { closed } from "../query/unknown-field.ts";

/** A name of Python's that its compiler takes without a look at the rest of Unicode. */
export const identifier = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: "must be a name of at most 128 letters, digits and _" });

export const sha256 = (bytes: Uint8Array | string): string =>
  `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

const isBase64 = (data: string): boolean => Buffer.from(data, "base64").toString("base64") === data;

/** A pickle of any protocol from 2 on, and compiled code, are no UTF-8. Nothing else is known of the text here. */
const isSource = (bytes: Uint8Array): boolean => {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0");
  } catch {
    return false;
  }
};

/**
 * The source of a Function: bytes with a digest. It is neither parsed nor run here.
 * @param maxBytes of the source.
 */
export const artifactOf = (maxBytes: number) =>
  closed({
    kind: z.enum(["python_callable", "python_bundle"], {
      error: "must be python_callable or python_bundle: pickles and other kinds are not taken",
    }),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, { error: "must be sha256: and 64 hexadecimal digits" }),
    content: closed({
      encoding: z.literal("base64", { error: "must be base64" }),
      data: z.string().max(4 * Math.ceil(maxBytes / 3), {
        error: `has more than ${maxBytes} bytes: ship large modules as packages, or ask the operator to raise the limit`,
      }),
    }),
    entrypoint: identifier,
    adapter: closed({
      kind: z.literal("scalar_to_arrow_batch", { error: "must be scalar_to_arrow_batch" }),
      version: z.literal(1, { error: "must be 1" }),
    }),
  }).transform(({ content, adapter: _, ...artifact }, context) => {
    const bytes = Buffer.from(content.data, "base64");
    const refuse = (path: readonly string[], message: string): never => {
      context.addIssue({ code: "custom", path: [...path], message });
      return z.NEVER;
    };
    const data = ["content", "data"];
    if (!isBase64(content.data)) return refuse(data, "is not standard base64 with padding");
    if (bytes.length === 0) return refuse(data, "is empty: send the source of the Function");
    if (!isSource(bytes)) return refuse(data, "is not text in UTF-8: a Function is sent as source, never as a pickle");
    const actual = sha256(bytes);
    if (actual !== artifact.digest) return refuse(["digest"], `differs from that of the content, which is ${actual}`);
    return { ...artifact, source: bytes.toString("utf8") };
  });
