/** What a request makes of a resource, and the operation that it answers with. Pure. */

import { record, text, valuesAt } from "../providers/cloud.ts";
import { type Call, camelCased } from "./discovery.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An object with another's fields in place of its own; null removes one, and lists are not mixed. */
export function merge(into: Fields, from: Fields): Fields {
  const merged: Record<string, unknown> = { ...into };
  for (const [key, value] of Object.entries(from)) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (value === null) delete merged[key];
    else merged[key] = isObject ? merge(record(merged[key]), record(value)) : value;
  }
  return merged;
}

const lowered = (name: string): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}`;

/** Fields of `ClusterUpdate` that are elsewhere in a cluster. */
const desiredFields: Readonly<Record<string, (value: unknown) => Fields>> = {
  desiredMasterVersion: (value) => ({ currentMasterVersion: value }),
  desiredNodeVersion: (value) => ({ currentNodeVersion: value }),
  desiredL4ilbSubsettingConfig: (value) => ({ networkConfig: { enableL4ilbSubsetting: record(value).enabled } }),
  desiredDatapathProvider: (value) => ({ networkConfig: { datapathProvider: value } }),
  desiredEnablePrivateEndpoint: (value) => ({ privateClusterConfig: { enablePrivateEndpoint: value } }),
};

const desired = (update: Fields): Fields =>
  Object.entries(update).reduce<Fields>((sum, [name, value]) => {
    const own = desiredFields[name] ?? ((held: unknown) => ({ [lowered(name.replace(/^desired/, ""))]: held }));
    return merge(sum, own(value));
  }, {});

/** Fields of `UpdateNodePoolRequest` that say which pool is meant, and in which state. */
const ofRequest = new Set(["name", "projectId", "zone", "clusterId", "nodePoolId", "etag"]);

/** Fields of `UpdateNodePoolRequest` that are not of the nodes' own configuration. */
const ofPool = new Set(["locations", "upgradeSettings", "nodeNetworkConfig", "queuedProvisioning"]);

function poolAfter(before: Fields, request: Fields): Fields {
  const config: Record<string, unknown> = { ...record(before.config) };
  const pool: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(request)) {
    // `labels: { labels: … }`, `resourceLabels: { labels: … }`, `taints: { taints: … }`
    const [inner] = ["labels", "taints", "tags"].filter((key) => record(value)[key] !== undefined);
    if (name === "nodeVersion") pool.version = value;
    else if (ofPool.has(name)) pool[name] = value;
    // Of 64 bits in the request, of 32 in a pool.
    else if (name === "diskSizeGb") config[name] = Number(value);
    else if (!ofRequest.has(name)) config[name] = inner === undefined ? value : record(value)[inner];
  }
  return { ...pool, config };
}

/** The fields that a mask names, absent ones as null. */
const masked = (sent: Fields, mask: string): Fields =>
  mask === ""
    ? sent
    : Object.fromEntries(
        mask
          .split(",")
          .map((path) => camelCased(path.split(".")[0] ?? ""))
          .map((field) => [field, sent[field] ?? null]),
      );

/** A resource after a request that changes it; undefined for a method that is not known here. */
export function changed({ api, kind, verb, query, body }: Call, before: Fields, sent: Fields): Fields | undefined {
  if (kind === "container.clusters" && verb === "update") return merge(before, desired(record(body.update)));
  if (kind === "container.nodePools" && verb === "update") return poolAfter(before, body);
  if (!/^(patch|update|set[A-Z]\w+|expandIpCidrRange)$/.test(verb)) return undefined;
  const {
    fingerprint: _one,
    labelFingerprint: _other,
    ...fields
  } = masked(sent, query.updateMask ?? text(body.updateMask));
  // Storage and Compute Engine merge what they are sent; elsewhere a field is replaced.
  if (verb === "patch" && (api === "storage" || api === "compute")) return merge(before, fields);
  return Object.fromEntries(Object.entries({ ...before, ...fields }).filter(([, value]) => value !== null));
}

export interface Target {
  readonly id: string;
  readonly path: string;
  /** What an operation's name begins with. */
  readonly scope: string;
  readonly body: Fields;
}

/** An operation that is done, in the form of its API. */
export function operationOf({ api, version, verb }: Call, target: Target, failure: string | undefined): Fields {
  const { id, path, scope, body } = target;
  const at = new Date().toISOString();
  const error = { code: 13, message: failure };
  if (api === "compute")
    return {
      kind: "compute#operation",
      id: id.replaceAll(/\D/g, ""),
      name: id,
      operationType: verb,
      status: "DONE",
      progress: 100,
      insertTime: at,
      endTime: at,
      targetLink: `https://www.googleapis.com/compute/${version}/${path}`,
      selfLink: `https://www.googleapis.com/compute/${version}/${scope}/operations/${id}`,
      ...(failure === undefined ? {} : { error: { errors: [{ code: "INTERNAL_ERROR", message: failure }] } }),
    };
  if (api === "container")
    return {
      name: id,
      status: "DONE",
      startTime: at,
      endTime: at,
      targetLink: `https://container.googleapis.com/${version}/${path}`,
      selfLink: `https://container.googleapis.com/${version}/${scope}/operations/${id}`,
      ...(failure === undefined ? {} : { error, statusMessage: failure }),
    };
  return {
    name: api === "serviceusage" ? `operations/${id}` : `${scope}/operations/${id}`,
    done: true,
    ...(failure === undefined
      ? { response: { "@type": "type.googleapis.com/google.protobuf.Value", ...body } }
      : { error }),
  };
}

/**
 * The pools that a cluster is created with, and the cluster without them. Without pools it gets one of `initialNodeCount` nodes.
 */
export function withoutPools({ nodePools, ...body }: Fields): {
  readonly body: Fields;
  readonly pools: readonly Fields[];
} {
  const first = { name: "default-pool", initialNodeCount: body.initialNodeCount, config: body.nodeConfig };
  return { body, pools: nodePools === undefined ? [first] : valuesAt({ nodePools }, "nodePools").map(record) };
}
