/** The plugin `pulumi-resource-kubernetes`: the provider stand-in behind the engine's gRPC interface. */

import { status } from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import grpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import rpcstatus from "@pulumi/pulumi/proto/status_pb.js";
import any from "google-protobuf/google/protobuf/any_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { pluginServer, RpcError, servePlugin, unary } from "../plugin.ts";
import { construct } from "./manifests.ts";
import { type Created, KubernetesProvider } from "./provider.ts";
import { hasUnknown, revealed, type Tree } from "./values.ts";

const kubernetes = new KubernetesProvider();

/** Secrets come in the open: what is one of a Secret is marked again on its way back. */
const fromWire = (message: { toJavaScript(): unknown } | undefined): Tree =>
  revealed((message?.toJavaScript() ?? {}) as Tree) as Tree;
const toWire = (tree: Tree) => struct.Struct.fromJavaScript(tree);

/** The engine's typed error for an object that exists but is not ready: it keeps the state, and tries again next time. */
function notReady({ id, state, unready = "" }: Created, inputs: Tree): RpcError {
  const failure = new provider.ErrorResourceInitFailed();
  failure.setId(id);
  failure.setProperties(toWire(state));
  failure.setInputs(toWire(inputs));
  failure.setReasonsList([unready]);
  const detail = new any.Any();
  detail.pack(failure.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const typed = new rpcstatus.Status();
  typed.setCode(status.UNKNOWN);
  typed.setMessage(unready);
  typed.addDetails(detail);
  return new RpcError(status.UNKNOWN, unready, typed.serializeBinary());
}

const kinds = provider.PropertyDiff.Kind;
const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE, UPDATE_REPLACE } = kinds;
const kindOf = { add: [ADD, ADD_REPLACE], delete: [DELETE, DELETE_REPLACE], update: [UPDATE, UPDATE_REPLACE] } as const;

/** A change of the connection means another cluster, and with it other objects, only where its identifier says so. */
function configDiff(olds: Tree, news: Tree): InstanceType<typeof provider.DiffResponse> {
  const response = new provider.DiffResponse();
  const same = JSON.stringify(olds) === JSON.stringify(news);
  response.setChanges(same ? provider.DiffResponse.DiffChanges.DIFF_NONE : provider.DiffResponse.DiffChanges.DIFF_SOME);
  const [before, after] = [olds.clusterIdentifier, news.clusterIdentifier];
  if (before !== after && !hasUnknown(after ?? null)) response.setReplacesList(["clusterIdentifier"]);
  return response;
}

const server = pluginServer();
server.addService(grpc.ResourceProviderService, {
  getPluginInfo: unary(() => {
    const info = new plugin.PluginInfo();
    info.setVersion("0.0.0");
    return info;
  }),
  attach: unary(() => new empty.Empty()),
  cancel: unary(() => new empty.Empty()),
  checkConfig: unary((request: InstanceType<typeof provider.CheckRequest>) => {
    const response = new provider.CheckResponse();
    response.setInputs(request.getNews());
    return response;
  }),
  diffConfig: unary((request: InstanceType<typeof provider.DiffRequest>) =>
    configDiff(fromWire(request.getOldInputs() ?? request.getOlds()), fromWire(request.getNews())),
  ),
  configure: unary((request: InstanceType<typeof provider.ConfigureRequest>) => {
    kubernetes.configure(fromWire(request.getArgs()));
    const response = new provider.ConfigureResponse();
    response.setSupportspreview(true);
    // The engine requires a provider of components to accept secrets.
    response.setAcceptsecrets(true);
    return response;
  }),
  check: unary((request: InstanceType<typeof provider.CheckRequest>) => {
    const response = new provider.CheckResponse();
    response.setInputs(toWire(kubernetes.check(request.getUrn(), fromWire(request.getNews()))));
    return response;
  }),
  diff: unary((request: InstanceType<typeof provider.DiffRequest>) => {
    const diff = kubernetes.diff(
      request.getUrn(),
      fromWire(request.getOlds()),
      fromWire(request.getOldInputs()),
      fromWire(request.getNews()),
      request.getIgnorechangesList(),
    );
    const response = new provider.DiffResponse();
    const { DIFF_NONE, DIFF_SOME } = provider.DiffResponse.DiffChanges;
    response.setChanges(diff.differences.length === 0 ? DIFF_NONE : DIFF_SOME);
    response.setReplacesList([...diff.replaces]);
    response.setDeletebeforereplace(diff.deleteBeforeReplace);
    response.setHasdetaileddiff(true);
    for (const { path, kind } of diff.differences) {
      const property = new provider.PropertyDiff();
      property.setKind(kindOf[kind][diff.replaces.includes(path) ? 1 : 0]);
      property.setInputdiff(true);
      response.getDetaileddiffMap().set(path, property);
    }
    return response;
  }),
  create: unary(async (request: InstanceType<typeof provider.CreateRequest>) => {
    const inputs = fromWire(request.getProperties());
    const created = await kubernetes.create(request.getUrn(), inputs, request.getPreview(), request.getTimeout());
    if (created.unready !== undefined) throw notReady(created, inputs);
    const response = new provider.CreateResponse();
    response.setId(created.id);
    response.setProperties(toWire(created.state));
    return response;
  }),
  update: unary(async (request: InstanceType<typeof provider.UpdateRequest>) => {
    const news = fromWire(request.getNews());
    const updated = await kubernetes.update(
      request.getUrn(),
      fromWire(request.getOlds()),
      news,
      request.getPreview(),
      request.getTimeout(),
    );
    if (updated.unready !== undefined) throw notReady({ ...updated, id: request.getId() }, news);
    const response = new provider.UpdateResponse();
    response.setProperties(toWire(updated.state));
    return response;
  }),
  read: unary(async (request: InstanceType<typeof provider.ReadRequest>) => {
    const found = await kubernetes.read(
      request.getUrn(),
      fromWire(request.getProperties()),
      fromWire(request.getInputs()),
    );
    const response = new provider.ReadResponse();
    if (found === undefined) return response;
    if (found.unready !== undefined)
      throw notReady({ id: request.getId(), state: found.state, unready: found.unready }, found.inputs);
    response.setId(request.getId());
    response.setProperties(toWire(found.state));
    response.setInputs(toWire(found.inputs));
    return response;
  }),
  delete: unary(async (request: InstanceType<typeof provider.DeleteRequest>) => {
    await kubernetes.remove(request.getUrn(), fromWire(request.getProperties()), request.getTimeout());
    return new empty.Empty();
  }),
  construct: unary(async (request: InstanceType<typeof provider.ConstructRequest>) => {
    if (request.getType() !== "kubernetes:yaml/v2:ConfigGroup")
      throw new RpcError(status.UNIMPLEMENTED, `this stand-in does not build ${request.getType()}`);
    const { urn } = await construct(request);
    const response = new provider.ConstructResponse();
    response.setUrn(urn);
    response.setState(toWire({}));
    return response;
  }),
} as never);
await servePlugin(server);
