import { z } from "zod";
import { type AwsConfig, awsSchema } from "./aws/schema.ts";
import { type KubeconfigConfig, kubeconfigSchema } from "./existing/schema.ts";
import { type GcpConfig, gcpSchema } from "./gcp/schema.ts";

/** A stack's whole configuration, every key under the project's namespace (`lakehead:<key>`). */
export const configSchema = z.discriminatedUnion("cloud", [awsSchema, gcpSchema, kubeconfigSchema], {
  error: "one of aws, gcp, kubeconfig",
});
export type Config = z.output<typeof configSchema>;
export type Cloud = Config["cloud"];
export type { AwsConfig, GcpConfig, KubeconfigConfig };

/** Keys that are read as secrets (`pulumi config set --secret`) and never pass through the schema. */
export const secretKeys = {
  staticTokens:
    "Static bearer tokens of the table service, in place of `tableService.auth.issuer`; the form is that of LAKEHEAD_AUTH_STATIC_TOKENS",
  storageOptions: "Storage options with credentials, as a JSON object (cloud: kubeconfig)",
  kubeconfig: "A whole kubeconfig (cloud: kubeconfig)",
} as const;
export type SecretKey = keyof typeof secretKeys;
