import { autoscalerLabelTag } from "../../clouds/aws/autoscaler-tags.ts";
import type { Config, SecretKey } from "../../clouds/schema.ts";
import { advertisesGpus } from "../../model/device-plugin.ts";
import { describeMemory, parseMemory } from "../../model/quantity.ts";
import { autoscalerSidecar, hasGpuNodes, rayGroups } from "../../model/ray-groups.ts";
import { defaultRoleOptions, nodeRoles, roleLabelKey } from "../../model/roles.ts";
import { doubt, type Finding, refuse } from "../report.ts";

/** The table service: deployable, and open to nobody by omission. */
export function checkTableService(config: Config, secrets: ReadonlySet<SecretKey>): Finding[] {
  const { tableService: service } = config;
  if (!service.enabled) return [];
  const { issuer, audience } = service.auth;
  const hasTokens = secrets.has("staticTokens");
  return [
    ...(service.image === undefined
      ? [
          refuse(
            "tableService.image",
            undefined,
            "the table service has no image",
            "build the Dockerfile, push it and write its tag or digest, or write tableService.enabled: false",
          ),
        ]
      : []),
    ...(issuer === undefined && !hasTokens
      ? [
          refuse(
            "tableService.auth.issuer",
            undefined,
            "nobody could be let in",
            "write the issuer of your tokens, or set static ones: pulumi config set --secret staticTokens …",
          ),
        ]
      : []),
    ...(issuer !== undefined && audience === undefined
      ? [
          refuse(
            "tableService.auth.audience",
            undefined,
            "any token of the issuer, for whatever service, would be let in",
            "write the audience that tokens for this service carry",
          ),
        ]
      : []),
    ...(config.cloud === "kubeconfig" && config.database.uri.startsWith("/") && service.replicas.max > 1
      ? [
          doubt(
            "tableService.replicas.max",
            service.replicas.max,
            "a path is on one volume, which usually one node can mount",
            "write 1, or an object store under database.uri",
          ),
        ]
      : []),
  ];
}

/** What a cluster that is already there cannot enforce, and what the cleanup needs to run. */
export function checkSurroundings(config: Config): Finding[] {
  const { exposure } = config.tableService;
  return [
    ...(hasGpuNodes(config) && !advertisesGpus(config)
      ? [
          doubt(
            "devicePlugin.mode",
            "existing",
            "a new cluster has no device plugin, and without one no node has a GPU to give",
            "write install, or see to a plugin yourself before GPU jobs run",
          ),
        ]
      : []),
    ...(config.cloud === "kubeconfig" && exposure.mode === "public" && exposure.allowedCidrs.join() !== "0.0.0.0/0"
      ? [
          refuse(
            "tableService.exposure.allowedCidrs",
            exposure.allowedCidrs,
            "no annotation for this works on every IngressClass",
            "leave it out, and restrict the ingress controller itself",
          ),
        ]
      : []),
    ...(config.orphanCleanup.enabled && config.orphanCleanup.image === undefined && !config.tableService.enabled
      ? [
          refuse(
            "orphanCleanup.image",
            undefined,
            "without a table service there is no image to run the cleanup with",
            "write an image with Node 24 or later, or orphanCleanup.enabled: false",
          ),
        ]
      : []),
  ];
}

/** What the cloud would refuse after minutes: labels, tags and principals that it does not take. */
export function checkCloudLimits(config: Config): Finding[] {
  switch (config.cloud) {
    case "aws": {
      const entries = (["viewerArns", "auditorArns"] as const).flatMap((key) =>
        config[key].map((arn) => ({ key, arn })),
      );
      const taken = new Set([config.deployerArn]);
      const twice = entries.filter(({ arn }) => taken.size === taken.add(arn).size);
      return [
        ...twice.map(({ key, arn }) =>
          refuse(key, arn, "it has an access entry already, and EKS takes one for each principal", "leave it out"),
        ),
        ...(config.labelPrefix.length > longestTaggedPrefix
          ? [
              refuse(
                "labelPrefix",
                config.labelPrefix,
                "the tags that let node groups grow from zero would be longer than AWS's 128 characters",
                `write one of at most ${longestTaggedPrefix} characters`,
              ),
            ]
          : []),
      ];
    }
    case "gcp":
      return Object.entries(config.tags)
        .filter(([, value]) => !/^[a-z0-9_-]*$/.test(value))
        .map(([key, value]) =>
          refuse(
            `tags.${key}`,
            value,
            "Google Cloud's labels take no such value",
            "use lower-case letters, digits, - and _",
          ),
        );
    case "kubeconfig":
      return [];
  }
}

const longestTaggedPrefix =
  128 -
  Math.max(
    ...nodeRoles.map(
      (role) => autoscalerLabelTag(roleLabelKey(role, { ...defaultRoleOptions, labelPrefix: "" })).length,
    ),
  );

/** The quota admits what the stack itself asks for. */
export function checkQuota(config: Config): Finding[] {
  if (!config.quota.enabled) return [];
  const { quota, tableService } = config;
  const { head, workers } = rayGroups(config);
  const ray = config.ray.create
    ? [
        {
          ...head,
          cpus: head.cpus + autoscalerSidecar.cpus,
          memoryBytes: head.memoryBytes + autoscalerSidecar.memoryBytes,
        },
        ...workers,
      ]
    : [];
  const service = tableService.enabled
    ? [
        {
          cpus: tableService.cpus,
          memoryBytes: parseMemory(tableService.memory),
          gpus: 0,
          count: tableService.replicas,
        },
      ]
    : [];
  const sum = (bound: "min" | "max", field: "cpus" | "memoryBytes" | "gpus") =>
    ray.reduce((total, group) => total + group[field] * (bound === "min" ? group.minReplicas : group.maxReplicas), 0) +
    service.reduce((total, group) => total + group[field] * group.count[bound], 0);
  const bounds = [
    { key: "quota.cpus", given: quota.cpus, limit: quota.cpus, field: "cpus", text: String },
    {
      key: "quota.memory",
      given: quota.memory,
      limit: parseMemory(quota.memory),
      field: "memoryBytes",
      text: describeMemory,
    },
    { key: "quota.gpus", given: quota.gpus, limit: quota.gpus, field: "gpus", text: String },
  ] as const;
  return bounds.flatMap(({ key, given, limit, field, text }): Finding[] => {
    const [least, most] = [sum("min", field), sum("max", field)];
    if (least > limit) {
      return [
        refuse(key, given, `the stack's own pods ask for ${text(least)} at the least`, `write ${text(most)} or more`),
      ];
    }
    if (most > limit) {
      return [
        doubt(key, given, `the stack's own pods ask for ${text(most)} at the most`, `write ${text(most)} or more`),
      ];
    }
    return [];
  });
}

/** Names that must differ, and keys that exclude each other. */
export function checkNames(config: Config): Finding[] {
  const { workers } = rayGroups(config);
  const names = workers.map(({ name }) => name);
  return [
    ...(new Set(names).size < names.length
      ? [refuse("ray.gpuWorkers.name", names.at(-1), "both worker groups have this name", "give each group its own")]
      : []),
    ...(config.operator.mode === "helm" && config.operator.namespace === config.namespace
      ? [
          refuse(
            "operator.namespace",
            config.operator.namespace,
            "the operator would live in the runtime's namespace and be deleted with it, before its RayClusters are",
            "give it a namespace of its own, such as kuberay-system",
          ),
        ]
      : []),
    ...(config.cloud === "aws" && config.bucket.kmsKeyArn !== undefined && config.bucket.encryption !== "aws:kms"
      ? [
          refuse(
            "bucket.kmsKeyArn",
            config.bucket.kmsKeyArn,
            `a key has no meaning with bucket.encryption ${config.bucket.encryption}`,
            'write bucket.encryption: "aws:kms", or leave the key out',
          ),
        ]
      : []),
    ...(config.cloud !== "kubeconfig" && config.bucket.forceDestroy && config.protect
      ? [
          refuse(
            "bucket.forceDestroy",
            true,
            "the tables would be protected and free to be deleted at once",
            "write false, or protect: false as well",
          ),
        ]
      : []),
    ...(config.cloud === "gcp" &&
    new Set([config.runtimeAccountId, config.tableServiceAccountId, config.client.accountId]).size < 3
      ? [
          refuse(
            "runtimeAccountId",
            config.runtimeAccountId,
            "the runtime, the table service and the client would share an identity",
            "give runtimeAccountId, tableServiceAccountId and client.accountId three ids",
          ),
        ]
      : []),
  ];
}
