/** Runs a program's `transforms`: calls the program back for the resource that has them and all resources below it. */

import { credentials } from "@grpc/grpc-js";
import alias from "@pulumi/pulumi/proto/alias_pb.js";
import callbackgrpc from "@pulumi/pulumi/proto/callback_grpc_pb.js";
import callback from "@pulumi/pulumi/proto/callback_pb.js";
import resource from "@pulumi/pulumi/proto/resource_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { urnOf } from "./capture.ts";
import type { Registration, Wire } from "./recorder.ts";

type Callback = InstanceType<typeof callback.Callback>;
type Options = InstanceType<typeof resource.TransformResourceOptions>;

const toStruct = (wire: Wire) =>
  struct.Struct.fromJavaScript(wire as Parameters<typeof struct.Struct.fromJavaScript>[0]);

interface StackName {
  readonly project: string;
  readonly stack: string;
}

export class Transforms {
  readonly #target: StackName;
  readonly #clients = new Map<string, InstanceType<typeof callbackgrpc.CallbacksClient>>();
  readonly #own = new Map<string, readonly Callback[]>();
  readonly #parents = new Map<string, string>();
  readonly #stack: Callback[] = [];

  constructor(target: StackName) {
    this.#target = target;
  }

  addToStack(transform: Callback): void {
    this.#stack.push(transform);
  }

  remember(urn: string, parent: string, transforms: readonly Callback[]): void {
    this.#parents.set(urn, parent);
    if (transforms.length > 0) this.#own.set(urn, transforms);
  }

  /** Applies the resource's transforms, then its parents' from the nearest outwards, then the stack's. */
  async apply(registration: Registration, own: readonly Callback[]): Promise<Registration> {
    const chain = [...own];
    for (let urn: string | undefined = registration.parent; urn; urn = this.#parents.get(urn))
      chain.push(...(this.#own.get(urn) ?? []));
    chain.push(...this.#stack);
    let current = registration;
    for (const transform of chain) current = await this.#call(transform, current);
    return current;
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  async #call(transform: Callback, registration: Registration): Promise<Registration> {
    const request = new resource.TransformRequest();
    request.setType(registration.type);
    request.setName(registration.name);
    request.setCustom(registration.kind === "custom");
    request.setParent(registration.parent);
    request.setProperties(toStruct(registration.object));
    request.setOptions(toOptions(registration));
    const envelope = new callback.CallbackInvokeRequest();
    envelope.setToken(transform.getToken());
    envelope.setRequest(request.serializeBinary());
    const bytes = await new Promise<Uint8Array>((resolve, reject) => {
      this.#client(transform.getTarget()).invoke(envelope, (error, reply) =>
        error === null ? resolve(reply.getResponse_asU8()) : reject(new Error(`a transform failed: ${error.details}`)),
      );
    });
    const reply = resource.TransformResponse.deserializeBinary(bytes);
    const options = reply.getOptions();
    const object = reply.getProperties()?.toJavaScript() ?? registration.object;
    return options === undefined
      ? { ...registration, object }
      : { ...registration, object, ...fromOptions(options, registration, this.#target) };
  }

  #client(target: string): InstanceType<typeof callbackgrpc.CallbacksClient> {
    const known = this.#clients.get(target);
    if (known !== undefined) return known;
    const client = new callbackgrpc.CallbacksClient(target, credentials.createInsecure());
    this.#clients.set(target, client);
    return client;
  }
}

function toOptions(registration: Registration): Options {
  const options = new resource.TransformResourceOptions();
  options.setDependsOnList([...registration.dependencies]);
  if (registration.protect !== undefined) options.setProtect(registration.protect);
  if (registration.retainOnDelete !== undefined) options.setRetainOnDelete(registration.retainOnDelete);
  options.setDeleteBeforeReplace(registration.deleteBeforeReplace);
  options.setIgnoreChangesList([...registration.ignoreChanges]);
  options.setReplaceOnChangesList([...registration.replaceOnChanges]);
  options.setAdditionalSecretOutputsList([...registration.secretOutputs]);
  options.setProvider(registration.provider);
  options.setDeletedWith(registration.deletedWith);
  options.setImport(registration.importId);
  options.setVersion(registration.version);
  options.setAliasesList(
    registration.aliases.map((urn) => {
      const item = new alias.Alias();
      item.setUrn(urn);
      return item;
    }),
  );
  const timeouts = new resource.RegisterResourceRequest.CustomTimeouts();
  timeouts.setCreate(registration.timeouts.create ?? "");
  timeouts.setUpdate(registration.timeouts.update ?? "");
  timeouts.setDelete(registration.timeouts.delete ?? "");
  options.setCustomTimeouts(timeouts);
  return options;
}

function fromOptions(options: Options, before: Registration, target: StackName): Partial<Registration> {
  return {
    dependencies: options.getDependsOnList(),
    protect: options.hasProtect() ? options.getProtect() : undefined,
    retainOnDelete: options.hasRetainOnDelete() ? options.getRetainOnDelete() : undefined,
    deleteBeforeReplace: options.getDeleteBeforeReplace() ?? false,
    ignoreChanges: options.getIgnoreChangesList(),
    replaceOnChanges: options.getReplaceOnChangesList(),
    secretOutputs: options.getAdditionalSecretOutputsList(),
    provider: options.getProvider(),
    deletedWith: options.getDeletedWith(),
    importId: options.getImport(),
    version: options.getVersion(),
    timeouts: timeoutsOf(options.getCustomTimeouts()),
    aliases: options.getAliasesList().map((item) => aliasUrn(item, before, target)),
  };
}

/** Completes an alias that names only parts of an earlier URN with the current parts. */
function aliasUrn(item: InstanceType<typeof alias.Alias>, now: Registration, target: StackName): string {
  const spec = item.getSpec();
  if (item.hasUrn() || spec === undefined) return item.getUrn();
  return urnOf(
    spec.getProject() || target.project,
    spec.getStack() || target.stack,
    spec.getType() || now.type,
    spec.getName() || now.name,
    spec.getNoparent() ? undefined : spec.getParenturn() || now.parent || undefined,
  );
}

/** The configured timeouts, by operation. */
export function timeoutsOf(
  timeouts: InstanceType<typeof resource.RegisterResourceRequest.CustomTimeouts> | undefined,
): Record<string, string> {
  const all = { create: timeouts?.getCreate(), update: timeouts?.getUpdate(), delete: timeouts?.getDelete() };
  return Object.fromEntries(Object.entries(all).flatMap(([operation, value]) => (value ? [[operation, value]] : [])));
}
