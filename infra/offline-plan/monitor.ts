/** Serves a Recorder to a Pulumi program as its ResourceMonitor and Engine, over gRPC on the loopback interface. */

import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import enginegrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engine from "@pulumi/pulumi/proto/engine_pb.js";
import type provider from "@pulumi/pulumi/proto/provider_pb.js";
import resourcegrpc from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import resource from "@pulumi/pulumi/proto/resource_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Diagnostic } from "./capture.ts";
import { type Recorder, Refusal, type Registration, type Wire } from "./recorder.ts";
import { Transforms, timeoutsOf } from "./transforms.ts";

const feature = resource.ResourceMonitorFeature;
/**
 * The supported features. Alias specifications are left out on purpose: the SDK then sends every alias as a URN, including
 * those that a parent's alias implies.
 */
const features = [
  feature.RESOURCE_MONITOR_FEATURE_SECRETS,
  feature.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
  feature.RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES,
  feature.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
  feature.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
  feature.RESOURCE_MONITOR_FEATURE_TRANSFORMS,
  feature.RESOURCE_MONITOR_FEATURE_PARAMETERIZATION,
  feature.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
  feature.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS,
];

// Ray's largest CustomResourceDefinition has 0.9 MB; gRPC's default limit is 4 MB for a message.
const messageLimit = 400 * 1024 * 1024;

const severities: Readonly<Record<number, Diagnostic["severity"]>> = {
  0: "debug",
  1: "info",
  2: "warning",
  3: "error",
};

export interface Monitor {
  /** host:port for the program's --monitor and --engine. */
  readonly address: string;
  readonly diagnostics: readonly Diagnostic[];
  close(): void;
}

const toWire = (message: { toJavaScript(): Record<string, unknown> } | undefined): Wire =>
  message?.toJavaScript() ?? {};

const fromWire = (wire: Wire) =>
  struct.Struct.fromJavaScript(wire as Parameters<typeof struct.Struct.fromJavaScript>[0]);

/** Makes a gRPC handler of a function. The program gets the message of a failure. */
function unary<Request, Reply>(respond: (request: Request) => Reply | Promise<Reply>): handleUnaryCall<Request, Reply> {
  return (call: ServerUnaryCall<Request, Reply>, done: sendUnaryData<Reply>) => {
    Promise.resolve()
      .then(() => respond(call.request))
      .then(
        (reply) => done(null, reply),
        (error: unknown) =>
          done({
            code: error instanceof Refusal ? status.INVALID_ARGUMENT : status.INTERNAL,
            details: error instanceof Error ? error.message : String(error),
          }),
      );
  };
}

type RegisterRequest = InstanceType<typeof resource.RegisterResourceRequest>;

function registration(request: RegisterRequest): Registration {
  const propertyDependencies: Record<string, string[]> = {};
  request.getPropertydependenciesMap().forEach((urns, property) => {
    propertyDependencies[property] = urns.getUrnsList();
  });
  return {
    type: request.getType(),
    name: request.getName(),
    parent: request.getParent(),
    kind: request.getRemote() ? "remote" : request.getCustom() ? "custom" : "component",
    object: toWire(request.getObject()),
    provider: request.getProvider(),
    dependencies: request.getDependenciesList(),
    propertyDependencies,
    protect: request.hasProtect() ? request.getProtect() : undefined,
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    deleteBeforeReplace: request.getDeletebeforereplace(),
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    secretOutputs: request.getAdditionalsecretoutputsList(),
    aliases: request.getAliasurnsList(),
    deletedWith: request.getDeletedwith(),
    importId: request.getImportid(),
    timeouts: timeoutsOf(request.getCustomtimeouts()),
    version: request.getVersion(),
  };
}

/** Starts the server. The caller closes the monitor after the program has ended. */
export async function startMonitor(recorder: Recorder): Promise<Monitor> {
  const diagnostics: Diagnostic[] = [];
  const transforms = new Transforms(recorder);
  let rootUrn = "";
  const nothing = () => new empty.Empty();

  const server = new Server({
    "grpc.max_receive_message_length": messageLimit,
    "grpc.max_send_message_length": messageLimit,
  });
  server.addService(resourcegrpc.ResourceMonitorService, {
    getDeploymentInfo: unary(() => {
      const reply = new resource.DeploymentInfo();
      reply.setSupportedfeaturesList(features);
      return reply;
    }),
    supportsFeature: unary(() => new resource.SupportsFeatureResponse()),
    registerResource: unary(async (request: RegisterRequest) => {
      const transformed = await transforms.apply(registration(request), request.getTransformsList());
      const { urn, id, object } = recorder.register(transformed);
      transforms.remember(urn, request.getParent(), request.getTransformsList());
      const reply = new resource.RegisterResourceResponse();
      reply.setUrn(urn);
      reply.setId(id);
      reply.setObject(fromWire(object));
      return reply;
    }),
    readResource: unary((request: InstanceType<typeof resource.ReadResourceRequest>) => {
      const { urn, object } = recorder.read({
        type: request.getType(),
        name: request.getName(),
        parent: request.getParent(),
        id: request.getId(),
        object: toWire(request.getProperties()),
        provider: request.getProvider(),
        dependencies: request.getDependenciesList(),
        version: request.getVersion(),
      });
      const reply = new resource.ReadResourceResponse();
      reply.setUrn(urn);
      reply.setProperties(fromWire(object));
      return reply;
    }),
    registerResourceOutputs: unary((request: InstanceType<typeof resource.RegisterResourceOutputsRequest>) => {
      recorder.registerOutputs(request.getUrn(), toWire(request.getOutputs()));
      return nothing();
    }),
    invoke: unary((request: InstanceType<typeof resource.ResourceInvokeRequest>) => {
      const reply = new resource.ResourceInvokeResponse();
      reply.setReturn(fromWire(recorder.invoke(request.getTok(), toWire(request.getArgs()), request.getProvider())));
      return reply;
    }),
    call: unary(
      (request: InstanceType<typeof resource.ResourceCallRequest>): InstanceType<typeof provider.CallResponse> => {
        throw new Refusal(`the offline plan cannot call the method "${request.getTok()}" of a remote component`);
      },
    ),
    existsResource: unary((request: InstanceType<typeof resource.ExistsResourceRequest>) => {
      const reply = new resource.ExistsResourceResponse();
      reply.setExists(request.getId() !== "");
      reply.setUnknown(true);
      return reply;
    }),
    registerStackTransform: unary((request: Parameters<Transforms["addToStack"]>[0]) => {
      transforms.addToStack(request);
      return nothing();
    }),
    registerStackInvokeTransform: unary((): InstanceType<typeof empty.Empty> => {
      throw new Refusal("the offline plan does not support transforms of invokes");
    }),
    registerResourceHook: unary(nothing),
    registerErrorHook: unary(nothing),
    registerPackage: unary((request: InstanceType<typeof resource.RegisterPackageRequest>) => {
      const reply = new resource.RegisterPackageResponse();
      reply.setRef(`${request.getName()}@${request.getVersion()}`);
      return reply;
    }),
    signalAndWaitForShutdown: unary(nothing),
  });
  server.addService(enginegrpc.EngineService, {
    log: unary((request: InstanceType<typeof engine.LogRequest>) => {
      const urn = request.getUrn();
      diagnostics.push({
        severity: severities[request.getSeverity()] ?? "info",
        message: request.getMessage(),
        ...(urn === "" ? {} : { urn }),
      });
      return nothing();
    }),
    getRootResource: unary(() => {
      const reply = new engine.GetRootResourceResponse();
      reply.setUrn(rootUrn);
      return reply;
    }),
    setRootResource: unary((request: InstanceType<typeof engine.SetRootResourceRequest>) => {
      rootUrn = request.getUrn();
      return new engine.SetRootResourceResponse();
    }),
    startDebugging: unary(nothing),
    requirePulumiVersion: unary(() => new engine.RequirePulumiVersionResponse()),
  });

  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    address: `127.0.0.1:${port}`,
    diagnostics,
    close: () => {
      transforms.close();
      server.forceShutdown();
    },
  };
}
