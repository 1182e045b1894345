/**
 * `npm run test:preflight`: `npm run preflight` as a process against moto's server of AWS, once with nothing wrong and once with
 * each fault; `npm run setup` in the same way; and the requests to Google against the discovery documents of its client library.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { CreateRepositoryCommand, ECRClient, PutImageCommand } from "@aws-sdk/client-ecr";
import { CreateClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { CreateRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { stringify } from "yaml";
import { pythonWith } from "../../tools/parts/python.ts";
import { startProcess } from "../support/process.ts";
import { checkGoogle } from "./google.ts";
import { type Case, countedQuotas, fillRegion, fullCases, plantVpc, takeNames } from "./occupied.ts";
import { checkSetup } from "./setup.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0 };

async function check(title: string, test: () => Promise<string | undefined>): Promise<void> {
  const fault = await test().catch((error: unknown) => (error instanceof Error ? (error.stack ?? "") : String(error)));
  count[fault === undefined ? "passed" : "failed"]++;
  print(fault === undefined ? `ok      ${title}` : `FAILED  ${title}\n${fault.replaceAll(/^/gm, "          ")}`);
}

/** An account of no documentation: the command refuses those as placeholders. */
const account = "210987654321";
const region = "eu-central-1";
const role = (name: string): string => `arn:aws:iam::${account}:role/${name}`;
const anyone = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { AWS: "*" }, Action: "sts:AssumeRole" }],
});

/** A region in which every quota is used up. */
const fullRegion = "eu-north-1";
const quotas = { "L-1216C47A": 64, "L-34B43A08": 64, "L-DB2E81BA": 16, ...countedQuotas };

async function checkAws(python: string): Promise<void> {
  const server = startProcess(python, [here("aws_server.py"), JSON.stringify(quotas)], {
    PYTHONDONTWRITEBYTECODE: "1",
    MOTO_ACCOUNT_ID: account,
    // A certificate is issued as soon as it is read.
    MOTO_ACM_VALIDATION_WAIT: "0",
  });
  const root = await mkdtemp(join(tmpdir(), "lakehead-preflight-"));
  try {
    const [, port] = await server.printed(/^(\d+)\n/);
    const endpoint = `http://127.0.0.1:${port}`;
    const client = (where: string) => ({
      endpoint,
      region: where,
      credentials: { accessKeyId: "planted", secretAccessKey: "planted" },
    });

    const iam = new IAMClient(client(region));
    for (const [Path, RoleName] of [
      ["/team/", "deployer"],
      ["/", "drift"],
      ["/", "other"],
    ] as const)
      await iam.send(new CreateRoleCommand({ Path, RoleName, AssumeRolePolicyDocument: anyone }));
    const Tags = Object.entries({ stack: "trial", "managed-by": "pulumi" }).map(([Key, Value]) => ({ Key, Value }));
    await iam.send(new CreateRoleCommand({ RoleName: "geneva-client-role", AssumeRolePolicyDocument: anyone, Tags }));

    await new EKSClient(client(region)).send(
      new CreateClusterCommand({
        name: "taken",
        roleArn: role("drift"),
        resourcesVpcConfig: {},
        tags: { stack: "aws-prod", "managed-by": "pulumi" },
      }),
    );

    const request = async (where: string): Promise<string> => {
      const command = new RequestCertificateCommand({ DomainName: "*.tables.invalid" });
      return (await new ACMClient(client(where)).send(command)).CertificateArn ?? "";
    };
    const certificateArn = await request(region);
    const elsewhere = await request("us-east-1");

    const ecr = new ECRClient(client(region));
    const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
    const manifest = "application/vnd.oci.image.manifest.v1+json";
    await ecr.send(new CreateRepositoryCommand({ repositoryName: "lakehead" }));
    for (const [imageTag, architecture] of [
      ["amd64", "amd64"],
      ["arm64", "arm64"],
    ] as const)
      await ecr.send(
        new PutImageCommand({
          repositoryName: "lakehead",
          imageTag,
          imageManifestMediaType: "application/vnd.oci.image.index.v1+json",
          imageManifest: JSON.stringify({
            schemaVersion: 2,
            mediaType: "application/vnd.oci.image.index.v1+json",
            manifests: [
              { mediaType: manifest, digest: digest("a"), size: 1, platform: { os: "linux", architecture } },
              {
                mediaType: manifest,
                digest: digest("b"),
                size: 1,
                platform: { os: "unknown", architecture: "unknown" },
              },
            ],
          }),
        }),
      );

    const image = (tag: string): string => `${account}.dkr.ecr.${region}.amazonaws.com/lakehead:${tag}`;
    const good = {
      cloud: "aws",
      region,
      account,
      deployerArn: role("team/deployer"),
      viewerArns: [] as string[],
      auditorArns: [role("drift")],
      endpoint: { publicCidrs: ["9.9.7.0/24"] },
      network: { mode: "create", zones: ["a", "b"] },
      nodes: {
        system: { instanceTypes: ["m6i.large"], min: 2, max: 3 },
        head: { instanceTypes: ["m6i.2xlarge"], min: 1, max: 2 },
        cpu: { instanceTypes: ["c6i.4xlarge"], min: 0, max: 4 },
        gpu: { instanceTypes: ["g4dn.4xlarge"], min: 0, max: 1 },
      },
      bucket: { name: "lakehead-preflight-trial" },
      tableService: {
        image: image("amd64"),
        auth: { issuer: "https://login.tables.invalid/", audience: "lakehead" },
        exposure: { mode: "public", host: "www.tables.invalid", certificateArn },
      },
    };
    type Trial = typeof good & { clusterName: string; client: object };

    const assume = async (name: string): Promise<Record<string, string>> => {
      const command = new AssumeRoleCommand({ RoleArn: role(name), RoleSessionName: "trial" });
      const { Credentials } = await new STSClient(client(region)).send(command);
      return {
        AWS_ACCESS_KEY_ID: Credentials?.AccessKeyId ?? "",
        AWS_SECRET_ACCESS_KEY: Credentials?.SecretAccessKey ?? "",
        AWS_SESSION_TOKEN: Credentials?.SessionToken ?? "",
      };
    };

    /** Runs the command as the caller: the assumed role of that name, or without credentials where it is empty. */
    const preflight = async (change: Partial<Trial> = {}, { as = "team/deployer", address = "9.9.7.9" } = {}) => {
      const environment = as === "" ? {} : await assume(as);
      const config = Object.fromEntries(
        Object.entries({ ...good, ...change }).map(([key, value]) => [`trial:${key}`, value]),
      );
      await writeFile(join(root, "Pulumi.yaml"), stringify({ name: "trial", main: "index.ts" }));
      await writeFile(join(root, "Pulumi.trial.yaml"), stringify({ config }));
      const command = startProcess(
        process.execPath,
        [here("../../infra/preflight/main.ts"), "trial", "--root", root, "--address", address],
        {
          AWS_ENDPOINT_URL: endpoint,
          ...environment,
          HOME: root,
          AWS_EC2_METADATA_DISABLED: "true",
        },
      );
      const code = await command.exited();
      const output = command.output();
      // DNS and Docker Hub are outside of moto.
      const wrong = output
        .split("\n")
        .filter((line) => /^WRONG/.test(line) && !/^WRONG +(DNS|image of Ray)/.test(line));
      return { code, output, wrong };
    };

    await checkSetup(check, python, account, {
      AWS_ENDPOINT_URL: endpoint,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_REGION: region,
      ...(await assume("other")),
    });

    await check("every line about AWS is ok where nothing is wrong", async () => {
      const { output, wrong } = await preflight();
      const expected = [
        /^ok +caller: arn:aws:sts::210987654321:assumed-role\/deployer\/trial is deployerArn$/m,
        /^ok +deployerArn: \S+:role\/team\/deployer exists$/m,
        /^ok +auditorArns: \S+:role\/drift exists$/m,
        /^ok +clusterName: no cluster has the name lancedb yet$/m,
        /^ok +client\.roleName: the role geneva-client-role is this stack's$/m,
        /^ok +quota "Running On-Demand Standard .*: 64, 0 in use by others; the pools' maximum is 22 vCPUs \(system 3 × 2, head 2 × 8\)$/m,
        /^ok +quota "All Standard .* Spot Instance Requests" .*: 64, 0 in use by others; the pools' maximum is 64 vCPUs \(cpu 4 × 16\)$/m,
        /^ok +quota "Running On-Demand G and VT instances" .*maximum is 16 vCPUs \(gpu 1 × 16\)$/m,
        /^ok +quota "VPCs per Region" in eu-central-1: 5, 1 in use by others; the stack takes 1$/m,
        /^ok +quota "Clusters" in eu-central-1: 2, 1 in use by others; the stack takes 1$/m,
        /^ok +bucket\.name: no bucket has the name lakehead-preflight-trial yet$/m,
        /^ok +instance types of the pool gpu: eu-central-1a, eu-central-1b offer g4dn\.4xlarge$/m,
        /^ok +certificate: issued in eu-central-1 for \*\.tables\.invalid$/m,
        /^ok +address: 9\.9\.7\.9 is in endpoint\.publicCidrs \(9\.9\.7\.0\/24\)$/m,
        /^ok +image of table service: \S+:amd64: for amd64$/m,
      ].filter((line) => !line.test(output));
      return wrong.length === 0 && expected.length === 0 ? undefined : `${expected.join("\n")}\n${output}`;
    });

    const printed = (title: string, change: Case[1], line: RegExp): Promise<void> =>
      check(`its line says so: ${title}`, async () => {
        const { output } = await preflight(change as Partial<Trial>);
        return line.test(output) ? undefined : `expected ${line}\n${output}`;
      });

    const faults: readonly (readonly [title: string, Partial<Trial>, Parameters<typeof preflight>[1], RegExp])[] = [
      ["the caller is another role", {}, { as: "other" }, /caller: \S+assumed-role\/other\/trial is not deployerArn/],
      [
        "the role's path is missing",
        { deployerArn: role("deployer") },
        {},
        /deployerArn: the role deployer has another path/,
      ],
      [
        "a role does not exist",
        { auditorArns: [role("gone")] },
        {},
        /auditorArns: the role \S+:role\/gone does not exist/,
      ],
      [
        "a pool is larger than the quota",
        { nodes: { ...good.nodes, gpu: { ...good.nodes.gpu, max: 2 } } },
        {},
        /quota "Running On-Demand G and VT instances" in eu-central-1: 16, 0 in use by others; the pools' maximum is 32 vCPUs/,
      ],
      [
        "the region has no such zone",
        { network: { mode: "create", zones: ["a", "f"] } },
        {},
        /instance types of the pool cpu: eu-central-1f offers none of c6i\.4xlarge/,
      ],
      [
        "the certificate is for another host",
        {
          tableService: { ...good.tableService, exposure: { ...good.tableService.exposure, host: "www.lake.invalid" } },
        },
        {},
        /certificate: it is for \*\.tables\.invalid, not for www\.lake\.invalid/,
      ],
      [
        "the certificate does not exist",
        {
          tableService: {
            ...good.tableService,
            exposure: {
              ...good.tableService.exposure,
              certificateArn: certificateArn.replace(/[^/]+$/, "0".repeat(8)),
            },
          },
        },
        {},
        /certificate: \S+ does not exist/,
      ],
      [
        "the client's role is another stack's",
        { client: { roleName: "other" } },
        {},
        /client\.roleName: the role other exists and belongs to something else/,
      ],
      [
        "the cluster is another stack's",
        { clusterName: "taken" },
        {},
        /clusterName: the cluster taken exists and belongs to the stack aws-prod/,
      ],
      ["the address is outside", {}, { address: "9.9.8.9" }, /address: 9\.9\.8\.9 is not in endpoint\.publicCidrs/],
      [
        "the image is missing",
        { tableService: { ...good.tableService, image: image("gone") } },
        {},
        /image of table service: \S+:gone: the registry does not have it/,
      ],
      [
        "the image is of another architecture",
        { tableService: { ...good.tableService, image: image("arm64") } },
        {},
        /image of table service: \S+:arm64: for arm64, its nodes are amd64/,
      ],
    ];
    for (const [title, change, options, expected] of faults)
      await check(`its line names the fault, and the exit code is 1: ${title}`, async () => {
        const { code, output, wrong } = await preflight(change, options);
        const named = wrong.filter((line) => expected.test(line)).length > 0;
        return code === 1 && named ? undefined : `exit code ${code}, expected ${expected}\n${output}`;
      });

    await fillRegion(client(fullRegion), role("drift"));
    for (const [title, change, line] of fullCases(fullRegion)) await printed(title, change, line);
    for (const [title, change, line] of await takeNames(client(region))) await printed(title, change, line);
    for (const [title, change, line] of await plantVpc(client(region)))
      await printed(`an adopted VPC: ${title}`, change, line);
    await check("a quota that may not be read is a line, and no failure", async () => {
      const exposure = { mode: "internal" };
      const { code, output, wrong } = await preflight({ tableService: { ...good.tableService, exposure } as never });
      const line = /^unknown +quota "Network Load Balancers per Region": not checked \(NoSuchResource/m.test(output);
      return code === (wrong.length > 0 || /^WRONG/m.test(output) ? 1 : 0) && wrong.length === 0 && line
        ? undefined
        : output;
    });

    await check("a certificate of another region is refused by name", async () => {
      const { code, output } = await preflight({
        tableService: {
          ...good.tableService,
          exposure: { ...good.tableService.exposure, certificateArn: elsewhere },
        },
      });
      return code === 1 && /certificate/i.test(output) && output.includes("us-east-1") ? undefined : output;
    });

    await check("without credentials it says so, and asks nothing else", async () => {
      const { code, output } = await preflight({}, { as: "" });
      const fits = /^WRONG +caller: no valid AWS credentials/m.test(output) && !output.includes("deployerArn:");
      return code === 1 && fits ? undefined : `exit code ${code}\n${output}`;
    });
  } finally {
    server.child.kill("SIGKILL");
    await server.exited();
    await rm(root, { recursive: true, force: true });
  }
}

/** Without Python, one line says what is skipped. */
async function withPython(requirements: string, what: string, test: (python: string) => Promise<void>): Promise<void> {
  const { python, missing } = await pythonWith(here(requirements), print);
  if (python === undefined) print(`skipped: ${what}, ${missing}`);
  else await test(python);
}

await withPython("requirements.txt", "moto's server of AWS", checkAws);
await withPython("../cloud-schemas/requirements.txt", "Google's discovery documents", (python) =>
  checkGoogle(check, python),
);
print(`\n${count.passed} passed, ${count.failed} failed`);
if (count.failed > 0) process.exitCode = 1;
