import type { Scanner } from "./findings.ts";

/** Findings that stay, with their reason. `docs/design/scanner-findings.md` is made from them (`npm run docs`). */
export interface Accepted {
  readonly scanner: Scanner;
  readonly check: string;
  /** `<kind>/<name>` of every object with the finding in an example stack. */
  readonly objects: readonly string[];
  readonly reason: string;
}

const podsOf = (cluster: string) => ["head", "cpu", "gpu"].map((group) => `Pod/${cluster}-${group}`);
const stackPods = podsOf("geneva");
const rayPods = [...stackPods, ...podsOf("functions")];
const jobs = ["CronJob/orphan-cleanup", "CronJob/maintenance"];
const runner = ["Deployment/functions-runner"];
const own = ["Deployment/table-service", ...runner, ...jobs];

type Row = readonly [scanner: Scanner, check: string, objects: readonly string[]];

/** One reason for the same objection in the words of each scanner. */
const because = (reason: string, ...rows: readonly Row[]): Accepted[] =>
  rows.map(([scanner, check, objects]) => ({ scanner, check, objects, reason }));

export const accepted: readonly Accepted[] = [
  ...because(
    "The stack's own image is named by its digest. Tags of Ray's can move: `ray.image.digest` fixes them. With `Always` no pod starts while the registry is unavailable.",
    ["kube-score", "container-image-pull-policy: ImagePullPolicy is not set to Always", [...own, ...rayPods]],
    ["checkov", "CKV_K8S_15", [...own, ...rayPods]],
  ),
  ...because(
    "`tableService.image`, `ray.image.digest` and `ray.image.gpuDigest` take a digest. By default Ray's images are named as Geneva's client names them.",
    ["checkov", "CKV_K8S_43", [...own, ...rayPods]],
  ),
  ...because(
    "Idle CPU time of a node is free, and a limit slows requests down. Requests and the quota bound the sum.",
    ["kube-score", "container-resources: CPU limit is not set", own],
    ["checkov", "CKV_K8S_11", own],
  ),
  ...because(
    "User 1000 owns the files of both images (`node`, `ray`) and of existing volumes. The containers have no capability and cannot gain one.",
    [
      "kube-score",
      "container-security-context-user-group-id: The container is running with a low user ID",
      [...own, ...rayPods],
    ],
    [
      "kube-score",
      "container-security-context-user-group-id: The container running with a low group ID",
      [...own, ...rayPods],
    ],
    ["checkov", "CKV_K8S_40", [...own, ...rayPods]],
  ),
  ...because(
    "Ray writes logs, sockets and installed packages into its image's directories.",
    [
      "kube-score",
      "container-security-context-readonlyrootfilesystem: The pod has a container with a writable root filesystem",
      rayPods,
    ],
    ["checkov", "CKV_K8S_22", rayPods],
    ["kube-linter", "no-read-only-root-fs", rayPods],
  ),
  ...because("Jobs install packages and read data from any host.", [
    "kube-score",
    "pod-networkpolicy: The pod does not have a matching egress NetworkPolicy",
    stackPods,
  ]),
  ...because("It calls the Kubernetes API: the cleanup deletes RayClusters.", [
    "checkov",
    "CKV_K8S_38",
    ["CronJob/orphan-cleanup"],
  ]),
  ...because(
    "KubeRay adds the probes of Ray's containers.",
    ["checkov", "CKV_K8S_8", rayPods],
    ["checkov", "CKV_K8S_9", rayPods],
    ["kube-linter", "no-liveness-probe", rayPods],
    ["kube-linter", "no-readiness-probe", rayPods],
  ),
  ...because(
    "It serves no requests. Its lease on a job says that it lives, and another takes the job over.",
    ["checkov", "CKV_K8S_8", runner],
    ["checkov", "CKV_K8S_9", runner],
    ["kube-linter", "no-liveness-probe", runner],
    ["kube-linter", "no-readiness-probe", runner],
  ),
  ...because("Pods spread over zones and nodes by topology spread constraints.", [
    "kube-score",
    "deployment-has-host-podantiaffinity: Deployment does not have a host podAntiAffinity set",
    ["Deployment/table-service"],
  ]),
  ...because(
    "Only with a database on a volume, as in `local`: one pod at a time mounts it.",
    ["kube-score", "deployment-strategy: Deployment update strategy", ["Deployment/table-service"]],
    ["kube-score", "deployment-replicas: Deployment few replicas", ["Deployment/table-service"]],
    ["kube-linter", "no-rolling-update-strategy", ["Deployment/table-service"]],
  ),
  ...because(
    "Only in the stacks for development, which ask for one pod. `tableService.replicas.min` is 2 by default.",
    ["kube-score", "horizontalpodautoscaler-replicas: HPA few replicas", ["HorizontalPodAutoscaler/table-service"]],
    ["kube-linter", "hpa-minimum-three-replicas", ["HorizontalPodAutoscaler/table-service"]],
  ),
  ...because("The autoscaler decides the number of replicas, and the Deployment names none.", [
    "kube-linter",
    "minimum-three-replicas",
    ["Deployment/table-service"],
  ]),
  ...because(
    "A job that ends by itself; `activeDeadlineSeconds` ends one that hangs.",
    ["kube-linter", "no-liveness-probe", jobs],
    ["kube-linter", "no-readiness-probe", jobs],
  ),
  ...because(
    "`Never` is what a job needs whose next run repeats the work. The other pods name none, and the API server's default is `Always`.",
    ["kube-linter", "restart-policy", [...own, ...rayPods]],
  ),
  ...because("Pods select their nodes by label (`nodeSelector`), on an existing cluster by role alone.", [
    "kube-linter",
    "no-node-affinity",
    [...own, ...rayPods],
  ]),
  ...because("The cluster's own DNS settings fit: hosts of clouds and stores are resolved, and connections are kept.", [
    "kube-linter",
    "dnsconfig-options",
    [...own, ...rayPods],
  ]),
  ...because(
    "A convention of the scanner's makers. The stack's tags and labels name the owner.",
    ["kube-linter", "required-annotation-email", [...own, ...rayPods]],
    ["kube-linter", "required-label-owner", [...own, ...rayPods]],
  ),
  ...because(
    "The operator's pods come from its Helm chart, which a plan does not render.",
    [
      "kube-score",
      "networkpolicy-targets-pod: The NetworkPolicys selector doesn't match any pods",
      ["NetworkPolicy/default-deny", "NetworkPolicy/kuberay-operator"],
    ],
    ["kube-linter", "dangling-networkpolicy", ["NetworkPolicy/default-deny", "NetworkPolicy/kuberay-operator"]],
  ),
  ...because("What Geneva's documentation asks for, and the default; `client.access: least-privilege` replaces it.", [
    "kube-linter",
    "cluster-admin-role-binding",
    ["ClusterRoleBinding/lakehead-client-admin"],
  ]),
  ...because("The image holds the service's code, which is public, and no data. ECR encrypts it with AES-256.", [
    "checkov",
    "CKV_AWS_136",
    ["AWS::ECR::Repository/RepositoryServiceImage"],
  ]),
  ...because(
    "The log groups hold connections and API calls, no table data. CloudWatch encrypts them with its own key.",
    ["checkov", "CKV_AWS_158", ["AWS::Logs::LogGroup/LogGroupClusterLogs", "AWS::Logs::LogGroup/LogGroupFlowLogs"]],
  ),
  ...because("What pods print. CloudWatch encrypts it with its own key; `logKmsKeyArn` names another.", [
    "checkov",
    "CKV_AWS_158",
    ["AWS::Logs::LogGroup/LogGroupPodLogs"],
  ]),
  ...because(
    "A query reads thousands of ranges, and each would be a log line. CloudTrail's data events record access to a bucket where it is required.",
    ["checkov", "CKV_AWS_18", ["AWS::S3::Bucket/BucketTables"]],
  ),
  ...because(
    "A bucket of access logs: only Elastic Load Balancing writes, nothing is overwritten, and a log of its own would record each delivery.",
    ["checkov", "CKV_AWS_18", ["AWS::S3::Bucket/BucketLoadBalancerAccessLogs"]],
    ["checkov", "CKV_AWS_21", ["AWS::S3::Bucket/BucketLoadBalancerAccessLogs"]],
  ),
  ...because(
    "A query reads thousands of ranges, and each would be a log line. Data Access audit logs record access where it is required.",
    ["checkov", "CKV_GCP_62", ["resource/bucket"]],
  ),
  ...because("Dataplane V2 enforces NetworkPolicies by itself; the setting is that of the dataplane before it.", [
    "checkov",
    "CKV_GCP_12",
    ["resource/cluster"],
  ]),
  ...because("Which images may run is a policy of the project. The stack's own image is named by its digest.", [
    "checkov",
    "CKV_GCP_66",
    ["resource/cluster"],
  ]),
  ...because("Flow logs cost by the gigabyte: `network.flowLogs` turns them on, as in `gcp-prod`.", [
    "checkov",
    "CKV_GCP_26",
    ["resource/network"],
  ]),
  ...because("`network.flowLogs` records connections; those between the pods of one node would multiply them.", [
    "checkov",
    "CKV_GCP_61",
    ["resource/cluster"],
  ]),
  ...because(
    "The default pool, which GKE makes with the cluster, is removed at once. The pools have the metadata server.",
    ["checkov", "CKV_GCP_69", ["resource/cluster"]],
  ),
  ...because("The provider adds its default labels (`stack`, `managed-by`, `tags`) to each resource.", [
    "checkov",
    "CKV_GCP_21",
    ["resource/cluster"],
  ]),
  ...because("Groups in RBAC need a group of the organization's own Workspace. IAM admits the client's members.", [
    "checkov",
    "CKV_GCP_65",
    ["resource/cluster"],
  ]),
  ...because("The repositories hold public images and the service's code. Google encrypts them with its own keys.", [
    "checkov",
    "CKV_GCP_84",
    ["resource/service-image", "resource/docker-hub"],
  ]),
  ...because("Only in the stacks for development, which `protect: false` makes deletable.", [
    "checkov",
    "CKV_GCP_82",
    ["resource/secrets-key"],
  ]),
  ...because("GKE makes the cluster's own firewall rules. A network of this kind has no default one.", [
    "checkov",
    "CKV2_GCP_18",
    ["google_compute_network/network"],
  ]),
];
