/** `kubernetes:yaml/v2:ConfigGroup`: a component that the provider builds, from files that it reads itself. */

import { readFile } from "node:fs/promises";
import { credentials } from "@grpc/grpc-js";
import type provider from "@pulumi/pulumi/proto/provider_pb.js";
import resourcegrpc from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import resource from "@pulumi/pulumi/proto/resource_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { parseAllDocuments } from "yaml";
import type { KubernetesObject } from "../api.ts";
import type { Tree } from "./values.ts";

type ConstructRequest = InstanceType<typeof provider.ConstructRequest>;
type RegisterRequest = InstanceType<typeof resource.RegisterResourceRequest>;

async function textOf(file: string): Promise<string> {
  if (!/^https?:/.test(file)) return readFile(file, "utf8");
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file} answers ${response.status}`);
  return response.text();
}

/** Every object of some YAML files. */
export async function readManifests(files: readonly string[]): Promise<KubernetesObject[]> {
  const texts = await Promise.all(files.map(textOf));
  return texts.flatMap((text) =>
    parseAllDocuments(text)
      .map((document) => document.toJS() as KubernetesObject | null)
      .filter((object) => object !== null),
  );
}

/** The token of an object's resource type, such as `kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition`. */
export const typeOf = ({ apiVersion, kind }: KubernetesObject): string =>
  `kubernetes:${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}:${kind}`;

/** Registers the component and each object as its child. @returns the component's URN and its children's */
export async function construct(request: ConstructRequest): Promise<{ urn: string; children: string[] }> {
  const limit = 400 * 2 ** 20;
  const monitor = new resourcegrpc.ResourceMonitorClient(request.getMonitorendpoint(), credentials.createInsecure(), {
    "grpc.max_receive_message_length": limit,
    "grpc.max_send_message_length": limit,
  });
  const register = (message: RegisterRequest): Promise<string> =>
    new Promise((resolve, reject) =>
      monitor.registerResource(message, (error, response) =>
        error === null ? resolve(response.getUrn()) : reject(error),
      ),
    );
  try {
    const own = new resource.RegisterResourceRequest();
    own.setType(request.getType());
    own.setName(request.getName());
    own.setParent(request.getParent());
    own.setDependenciesList(request.getDependenciesList());
    own.setAliasesList(request.getAliasesList());
    const [protect, retain] = [request.getProtect(), request.getRetainondelete()];
    if (protect !== undefined) own.setProtect(protect);
    if (retain !== undefined) own.setRetainondelete(retain);
    own.setAcceptsecrets(true);
    own.setAcceptresources(true);
    const urn = await register(own);
    const { files = [] } = (request.getInputs()?.toJavaScript() ?? {}) as { files?: string[] };
    const objects = await readManifests(files);
    const children = await Promise.all(
      objects.map((object) => {
        const child = new resource.RegisterResourceRequest();
        child.setType(typeOf(object));
        child.setName(`${request.getName()}:${object.metadata.name}`);
        child.setParent(urn);
        child.setCustom(true);
        child.setObject(struct.Struct.fromJavaScript(object as unknown as Tree));
        child.setProvider(request.getProvidersMap().get("kubernetes") ?? "");
        child.setDependenciesList(request.getDependenciesList());
        if (retain !== undefined) child.setRetainondelete(retain);
        child.setAcceptsecrets(true);
        return register(child);
      }),
    );
    return { urn, children };
  } finally {
    monitor.close();
  }
}
