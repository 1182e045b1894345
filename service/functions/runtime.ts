import { z } from "zod";
import { optional } from "../query/fields.ts";
import { jsonObject, listOf } from "../query/lists.ts";
import { closed } from "../query/unknown-field.ts";
import { identifier } from "./artifact.ts";

const maxVariables = 32;
const maxValueLength = 4096;
const maxChannels = 8;
const maxRequirementLength = 256;

/** Of variables that say which code a process loads, which cluster it belongs to, or as whom it reaches the store. */
const refusedPrefixes = [
  ...["PYTHON", "LD_", "DYLD_", "RAY_", "PIP_", "UV_", "CONDA_", "LAKEHEAD_", "LANCE_", "KUBERNETES_"],
  ...["AWS_", "GOOGLE_", "GCLOUD_", "CLOUDSDK_", "AZURE_", "OBJECT_STORE_"],
];
const refusedNames = ["PATH", "HOME", "IFS", "ENV", "BASH_ENV", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "SSL_CERT_FILE"];

/** The name of a variable that a Function may set. */
export const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: "must be a name of at most 128 letters, digits and _" })
  .refine(
    (name) => {
      const upper = name.toUpperCase();
      return !refusedNames.includes(upper) && !refusedPrefixes.some((prefix) => upper.startsWith(prefix));
    },
    { error: "is a variable of Python, of Ray or of the store's credentials: choose another name" },
  );

/** A name with extras and versions. No address, path, option or marker, which begin with or hold other characters. */
const version = "\\s*(?:===?|[<>]=?|~=|!=)\\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*";
const extras = "(?:\\[[A-Za-z0-9._-]+(?:,\\s*[A-Za-z0-9._-]+)*\\])?";
const requirements = {
  pip: new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]*${extras}(?:${version}(?:\\s*,${version})*)?$`),
  // Conda also writes name=version=build.
  conda: new RegExp(`^[A-Za-z0-9_][A-Za-z0-9._-]*(?:(?:=[A-Za-z0-9.*+!_]+){1,2}|${version}(?:\\s*,${version})*)?$`),
} as const;

const packageText = z.string().max(maxRequirementLength, { error: `has more than ${maxRequirementLength} characters` });

const environmentOf = (maxPackages: number) =>
  closed({
    kind: z.enum(["pip", "conda"], { error: "must be pip or conda" }),
    packages: optional(listOf(packageText, maxPackages)),
    // Names of the modules whose source is in a python_bundle.
    modules: optional(listOf(identifier, maxPackages)),
    channels: optional(
      listOf(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: "must be a channel's name, not an address" }),
        maxChannels,
      ),
    ),
  }).superRefine(({ kind, packages = [], channels = [] }, context) => {
    if (kind === "pip" && channels.length > 0)
      context.addIssue({ code: "custom", path: ["channels"], message: "belong to conda: remove them" });
    for (const [index, requirement] of packages.entries())
      if (!requirements[kind].test(requirement))
        context.addIssue({
          code: "custom",
          path: ["packages", index],
          message: "must be a package's name with versions, such as numpy==2.3.1: no address, path, option or marker",
        });
  });

const variables = jsonObject().transform((sent, context): Readonly<Record<string, string>> => {
  const entries = Object.entries(sent);
  if (entries.length > maxVariables)
    context.addIssue({ code: "custom", message: `has more than ${maxVariables} variables: remove some` });
  for (const [name, value] of entries.slice(0, maxVariables)) {
    const fault = variableName.safeParse(name).error?.issues[0]?.message;
    if (fault !== undefined) context.addIssue({ code: "custom", path: [name.slice(0, 64)], message: fault });
    else if (typeof value !== "string" || value.length > maxValueLength || value.includes("\0"))
      context.addIssue({
        code: "custom",
        path: [name],
        message: `must be text of at most ${maxValueLength} characters`,
      });
  }
  return sent as Readonly<Record<string, string>>;
});

/** Where a Function runs. Its variables can be read by all who can read the Function. */
export const runtimeOf = (maxPackages: number) =>
  closed({
    kind: z.enum(["python", "python_v2"], { error: "must be python or python_v2" }),
    python_version: z.string().regex(/^3\.\d{1,2}$/, { error: "must be a minor version of Python, such as 3.12" }),
    environment: environmentOf(maxPackages),
    env: optional(variables),
    gpu: optional(z.boolean()),
  }).superRefine(({ kind, gpu }, context) => {
    if (kind === "python" && gpu === true)
      context.addIssue({ code: "custom", path: ["gpu"], message: "needs the kind python_v2" });
  });
