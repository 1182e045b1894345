/** A stand-in as the plugin process that the engine starts: the provider protocol over gRPC on the loopback. */

import { status } from "@grpc/grpc-js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import providergrpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { answer } from "../../../infra/offline-plan/answers.ts";
import { qualifiedType } from "../../../infra/offline-plan/capture.ts";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import { decodeProperties, unknownMarker } from "../../../infra/offline-plan/values.ts";
import { unary as plain, pluginServer, RpcError, servePlugin } from "../support/plugin.ts";
import { CloudError, type Difference, type StandIn } from "./provider.ts";

const toWire = (message: { toJavaScript(): Record<string, unknown> } | undefined): Wire =>
  message?.toJavaScript() ?? {};

const fromWire = (wire: Wire) =>
  struct.Struct.fromJavaScript(wire as Parameters<typeof struct.Struct.fromJavaScript>[0]);

/** A refusal of the cloud has a status of its own, which distinguishes it from a fault of the stand-in. */
const unary = <Request, Reply>(respond: (request: Request) => Reply | Promise<Reply>) =>
  plain(async (request: Request) => {
    try {
      return await respond(request);
    } catch (error) {
      throw error instanceof CloudError ? new RpcError(status.FAILED_PRECONDITION, error.message) : error;
    }
  });

const typeOf = (urn: string): string => qualifiedType(urn).split("$").at(-1) ?? "";

const hasUnknowns = (value: unknown): boolean =>
  value === unknownMarker ||
  (typeof value === "object" && value !== null && Object.values(value).some((inner) => hasUnknowns(inner)));

const kinds = provider.PropertyDiff.Kind;
const kindOf = {
  add: [kinds.ADD, kinds.ADD_REPLACE],
  delete: [kinds.DELETE, kinds.DELETE_REPLACE],
  update: [kinds.UPDATE, kinds.UPDATE_REPLACE],
} as const;

function diffReply({ changes, deleteBeforeReplace }: Difference): InstanceType<typeof provider.DiffResponse> {
  const reply = new provider.DiffResponse();
  const { DIFF_NONE, DIFF_SOME } = provider.DiffResponse.DiffChanges;
  reply.setChanges(changes.size === 0 ? DIFF_NONE : DIFF_SOME);
  reply.setHasdetaileddiff(true);
  const top = (path: string): string => /^\w+/.exec(path)?.[0] ?? path;
  reply.setDiffsList([...new Set([...changes.keys()].map(top))]);
  const replaces = [...changes].filter(([, change]) => change.replaces).map(([path]) => path);
  reply.setReplacesList([...new Set(replaces.map(top))]);
  reply.setDeletebeforereplace(replaces.length > 0 && deleteBeforeReplace);
  for (const [path, { kind, replaces: forces }] of changes) {
    const detail = new provider.PropertyDiff();
    detail.setKind(kindOf[kind][forces ? 1 : 0]);
    detail.setInputdiff(true);
    reply.getDetaileddiffMap().set(path, detail);
  }
  return reply;
}

function checkReply(inputs: Wire, failures: readonly { property: string; reason: string }[]) {
  const reply = new provider.CheckResponse();
  reply.setInputs(fromWire(inputs));
  reply.setFailuresList(
    failures.map(({ property, reason }) => {
      const failure = new provider.CheckFailure();
      failure.setProperty(property);
      failure.setReason(reason);
      return failure;
    }),
  );
  return reply;
}

/** Serves until the engine ends the process. */
export async function serve(standIn: StandIn): Promise<void> {
  let configuration: Wire = {};
  const server = pluginServer();
  const notHere = (what: string) => () => {
    throw new CloudError(`the stand-in has no ${what}`);
  };
  // What is not listed here answers "unimplemented", which the engine knows how to live with.
  server.addService(providergrpc.ResourceProviderService, {
    getPluginInfo: unary(() => {
      const reply = new plugin.PluginInfo();
      reply.setVersion(standIn.sdk.version);
      return reply;
    }),
    attach: unary(() => new empty.Empty()),
    cancel: unary(() => new empty.Empty()),
    checkConfig: unary((request: InstanceType<typeof provider.CheckRequest>) =>
      checkReply(toWire(request.getNews()), []),
    ),
    diffConfig: unary((request: InstanceType<typeof provider.DiffRequest>) => {
      // A changed configuration, such as another default tag, replaces no provider.
      const [before, after] = [toWire(request.getOldInputs()), toWire(request.getNews())];
      const { changes } = standIn.diff("", before, {}, after, () => false);
      return diffReply({ changes, deleteBeforeReplace: false });
    }),
    configure: unary((request: InstanceType<typeof provider.ConfigureRequest>) => {
      configuration = toWire(request.getArgs());
      standIn.configure(configuration);
      const reply = new provider.ConfigureResponse();
      reply.setSupportspreview(true);
      return reply;
    }),
    invoke: unary((request: InstanceType<typeof provider.InvokeRequest>) => {
      const context = { project: "", stack: "", provider: decodeProperties(configuration) };
      const result = answer(request.getTok(), decodeProperties(toWire(request.getArgs())), context);
      if (result === undefined) throw new CloudError(`unknown function ${request.getTok()}`);
      const reply = new provider.InvokeResponse();
      reply.setReturn(fromWire(result));
      return reply;
    }),
    call: unary(notHere("methods")),
    construct: unary(notHere("components")),
    check: unary((request: InstanceType<typeof provider.CheckRequest>) => {
      const inputs = toWire(request.getNews());
      return checkReply(inputs, standIn.check(typeOf(request.getUrn()), inputs));
    }),
    diff: unary((request: InstanceType<typeof provider.DiffRequest>) =>
      diffReply(
        standIn.diff(
          typeOf(request.getUrn()),
          toWire(request.getOldInputs()),
          toWire(request.getOlds()),
          toWire(request.getNews()),
        ),
      ),
    ),
    create: unary(async (request: InstanceType<typeof provider.CreateRequest>) => {
      const [urn, inputs] = [request.getUrn(), toWire(request.getProperties())];
      const reply = new provider.CreateResponse();
      if (request.getPreview()) {
        reply.setProperties(fromWire(standIn.foreseeCreate(typeOf(urn), inputs)));
        return reply;
      }
      if (hasUnknowns(inputs)) throw new Error(`${urn} is to be created with an unknown input`);
      const { id, outputs } = await standIn.create(typeOf(urn), urn, inputs);
      reply.setId(id);
      reply.setProperties(fromWire(outputs));
      return reply;
    }),
    read: unary((request: InstanceType<typeof provider.ReadRequest>) => {
      const item = standIn.read(typeOf(request.getUrn()), request.getId());
      const reply = new provider.ReadResponse();
      if (item === undefined) return reply;
      reply.setId(item.id);
      reply.setProperties(fromWire(item.outputs));
      reply.setInputs(fromWire(item.inputs));
      return reply;
    }),
    update: unary(async (request: InstanceType<typeof provider.UpdateRequest>) => {
      const [urn, inputs, olds] = [request.getUrn(), toWire(request.getNews()), toWire(request.getOlds())];
      const reply = new provider.UpdateResponse();
      reply.setProperties(
        fromWire(
          request.getPreview()
            ? standIn.foreseeUpdate(typeOf(urn), olds, inputs)
            : (await standIn.update(typeOf(urn), urn, request.getId(), inputs)).outputs,
        ),
      );
      return reply;
    }),
    delete: unary(async (request: InstanceType<typeof provider.DeleteRequest>) => {
      await standIn.delete(typeOf(request.getUrn()), request.getUrn(), request.getId());
      return new empty.Empty();
    }),
  });
  await servePlugin(server);
}
