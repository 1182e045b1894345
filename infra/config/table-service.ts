import { z } from "zod";
import { cidr, count, cpus, flag, form, group, hostname, httpsUrl, image, memory } from "./fields.ts";
import { functionsSchema } from "./functions.ts";

const annotations = (kind: string) =>
  z
    .record(form(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/, "the key of an annotation"), z.string())
    .default({})
    .describe(`Annotations of the ${kind} beside the stack's own, which they replace`);

/** The default of who reaches an internal load balancer. */
export const internalNetworks = ["10.0.0.0/8"] as const;

/** The TLS certificate of a public endpoint differs by cloud. */
export const exposureSchema = <Shape extends z.ZodRawShape, Internal extends z.ZodRawShape = Record<never, z.ZodType>>(
  tls: Shape,
  internal: Internal = {} as Internal,
) =>
  z
    .discriminatedUnion(
      "mode",
      [
        z.strictObject({ mode: z.literal("cluster").describe("Reachable inside the cluster only") }),
        z.strictObject({
          mode: z.literal("internal").describe("A load balancer inside the network"),
          allowedCidrs: z
            .array(cidr)
            .min(1)
            .default([...internalNetworks])
            .describe("Networks that can connect"),
          annotations: annotations("Service"),
          ...internal,
        }),
        z.strictObject({
          mode: z.literal("public").describe("A load balancer on the internet with TLS"),
          host: hostname.describe("DNS name of the endpoint"),
          allowedCidrs: z.array(cidr).min(1).default(["0.0.0.0/0"]).describe("Networks that can connect"),
          annotations: annotations("Ingress"),
          ...tls,
        }),
      ],
      { error: "one of cluster, internal, public under `mode`" },
    )
    .prefault({ mode: "cluster" })
    .describe("Where the table service is reachable");

/** Keys of the clouds whose store has credentials for one table. */
export const lendingShape = {
  vending: flag(
    false,
    "Lend credentials for the files of one table to callers with the scope `credentials`; on AWS from a role of its own: see docs/catalog.md",
  ),
  catalog: flag(
    false,
    "Ray's pods and the runtime's client open tables by the table service alone, with lent credentials, and have no rights on the bucket. Needs `vending` and `writes`, and keeps the maintenance from Ray; see docs/geneva.md",
  ),
};

export const tableServiceSchema = <Exposure extends z.ZodType>(exposure: Exposure) =>
  z
    .strictObject({
      enabled: flag(true, "Deploy the table service"),
      image: image
        .optional()
        .describe(
          "Image of the table service; default: the stack makes a repository, and builds and pushes the Dockerfile (on AWS and Google Cloud; required on an existing cluster)",
        ),
      replicas: group("Horizontal scaling", {
        min: count(1, 100).default(2).describe("Minimum number of pods"),
        max: count(1, 100).default(6).describe("Maximum number of pods"),
        targetCpuPercent: count(10, 95).default(70).describe("Target of the autoscaler for the mean CPU use"),
      }),
      cpus: cpus.default(1).describe("CPUs of one pod, as request"),
      memory: memory.default("2Gi").describe("Memory of one pod, as request and limit"),
      auth: group("Authentication of callers", {
        issuer: httpsUrl
          .optional()
          .describe("Issuer of the bearer tokens; required unless the secret `staticTokens` is set"),
        audience: z.string().min(1).optional().describe("Audience that a token must carry; required with `issuer`"),
        jwksUrl: httpsUrl.optional().describe("Key set of the issuer; default: from the issuer's discovery document"),
        scopeClaim: z.string().min(1).optional().describe("Claim that lists the scopes; default: the service's own"),
        apiKey: flag(
          true,
          "Accept a token in the header `x-api-key`, too, where LanceDB's clients send their `api_key`",
        ),
        consoleClientId: z
          .string()
          .min(1)
          .optional()
          .describe("Client id of the console at the issuer; without it, the console takes tokens only"),
      }),
      console: flag(false, "Serve the console, a page over the API, at /console"),
      writes: flag(
        false,
        "Serve the operations that change tables and namespaces; alone gives the service's identity the right to put and delete all objects of the tables",
      ),
      functions: functionsSchema,
      logLevel: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Minimum log level"),
      exposure,
    })
    .describe("The HTTP API over the Lance tables");
