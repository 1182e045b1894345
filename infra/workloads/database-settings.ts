import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { environment } from "../../service/contract.ts";
import type { Database } from "../clouds/cloud.ts";
import { checksum } from "../kubernetes/checksum.ts";
import { mergeStorageOptions } from "./table-service/environment.ts";

interface Settings {
  /** Of the workload; its name begins theirs. */
  readonly metadata: { readonly name: string; readonly namespace: pulumi.Input<string> };
  readonly database: Database;
  /** The environment without secrets. @param storageOptions absent where a part of them is secret. */
  readonly dataOf: (
    uri: string,
    storageOptions: Readonly<Record<string, string>> | undefined,
  ) => Record<string, string>;
  /** Variables that are storage options with credentials, too, as JSON objects. */
  readonly otherSecretOptions?: Readonly<Record<string, pulumi.Output<string>>>;
  readonly parent: pulumi.Resource;
}

/**
 * The environment of a workload that opens the database: a ConfigMap and, for options that are secret, a Secret. Both are
 * immutable and named by a checksum, so that a change makes new ones and new pods.
 * @returns their names.
 */
export function databaseSettings(
  name: string,
  { metadata, database, dataOf, otherSecretOptions = {}, parent }: Settings,
) {
  const named = (suffix: pulumi.Input<string>) => ({
    ...metadata,
    name: pulumi.interpolate`${metadata.name}-${suffix}`,
  });
  const { uri, storageOptions, secretStorageOptions } = database;
  const open = secretStorageOptions === undefined ? storageOptions : undefined;
  const data = pulumi.output(uri).apply((known) => dataOf(known, open));
  const configMap = new kubernetes.core.v1.ConfigMap(
    name,
    { metadata: named(data.apply(checksum)), immutable: true, data },
    { parent },
  );
  const options = {
    ...(secretStorageOptions === undefined ? {} : { [environment.storageOptions]: secretStorageOptions }),
    ...otherSecretOptions,
  };
  const stringData =
    Object.keys(options).length === 0
      ? undefined
      : pulumi
          .all(options)
          .apply((texts) =>
            Object.fromEntries(
              Object.entries(texts).map(([variable, text]) => [variable, mergeStorageOptions(storageOptions, text)]),
            ),
          );
  const secret =
    stringData === undefined
      ? undefined
      : new kubernetes.core.v1.Secret(
          name,
          // Forty bits of a digest do not reveal the data.
          { metadata: named(pulumi.unsecret(stringData.apply(checksum))), immutable: true, stringData },
          { parent },
        );
  return { configMapName: configMap.metadata.name, secretName: secret?.metadata.name };
}
