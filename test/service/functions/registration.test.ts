import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { describedType } from "../../../service/functions/arrow-type.ts";
import { registration } from "../../../service/functions/registration.ts";

const source = "def double(x):\n    return x * 2\n";

const artifactOf = (bytes: string | Uint8Array) => ({
  kind: "python_callable",
  digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
  content: { encoding: "base64", data: Buffer.from(bytes).toString("base64") },
  entrypoint: "double",
  adapter: { kind: "scalar_to_arrow_batch", version: 1 },
});

const sent = {
  artifact: artifactOf(source),
  signature: {
    inputs: [{ name: "x", arrow_type: "int64", nullable: true }],
    output: { kind: "scalar", arrow_type: "utf8", nullable: false },
  },
  runtime: {
    kind: "python",
    python_version: "3.12",
    environment: { kind: "pip", packages: ["numpy==2.3.1"] },
    env: { MODE: "fast" },
  },
  secret_bindings: [{ kind: "env", variable: "TOKEN", secret_ref: { name: "hub" } }],
};

type Sent = typeof sent;

const faultsOf = (body: unknown): readonly string[] =>
  (registration.safeParse(body).error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`);

const withRuntime = (runtime: object) => ({ ...sent, runtime: { ...sent.runtime, ...runtime } });
const withSignature = (signature: object) => ({ ...sent, signature: { ...sent.signature, ...signature } });
const withArtifact = (artifact: object): object => ({ ...sent, artifact: { ...sent.artifact, ...artifact } });

test("a registration keeps the source as text and describes utf8 as string", () => {
  const read = registration.parse(sent);
  expect(read.artifact).toEqual({
    kind: "python_callable",
    digest: sent.artifact.digest,
    entrypoint: "double",
    source,
  });
  expect(read.signature.output.arrow_type).toBe("string");
  expect(read.secret_bindings).toEqual(sent.secret_bindings);
});

test("what LanceDB's Python client 0.40 sends is taken, with its empty lists", () => {
  const recorded = {
    artifact: {
      kind: "python_callable",
      digest: "sha256:17b6e4d53e896ddc233b3551799e9a794ce63c574e9ca835f89ddba361bc7831",
      entrypoint: "double",
      content: {
        encoding: "base64",
        data: "ZnJvbSBfX2Z1dHVyZV9fIGltcG9ydCBhbm5vdGF0aW9ucwoKZGVmIGRvdWJsZSh4OiBpbnQpIC0+IGludDoKICAgIHJldHVybiB4ICogMgo=",
      },
      adapter: { kind: "scalar_to_arrow_batch", version: 1 },
    },
    signature: {
      inputs: [{ name: "x", arrow_type: "int64", nullable: false }],
      output: { kind: "scalar", arrow_type: "int64", nullable: false, fields: [] },
      initialization: [],
    },
    runtime: {
      kind: "python",
      python_version: "3.11",
      environment: { kind: "pip", packages: ["numpy==2.3.1"], channels: [], modules: [] },
      env: {},
    },
    secret_bindings: [],
  };
  expect(faultsOf(recorded)).toEqual([]);
});

test("a source of the maximum size is taken, and one byte more is refused", () => {
  expect(faultsOf({ ...sent, artifact: artifactOf("#".repeat(262_143)) })).toEqual([]);
  expect(faultsOf({ ...sent, artifact: artifactOf("#".repeat(262_147)) })).toEqual([
    expect.stringContaining("artifact.content.data has more than 262144 bytes"),
  ]);
});

test.each<[string, unknown, string]>([
  ["a digest of other bytes", withArtifact({ digest: `sha256:${"0".repeat(64)}` }), "artifact.digest differs"],
  ["a digest of another kind", withArtifact({ digest: "md5:00" }), "artifact.digest must be sha256:"],
  ["a pickle", { ...sent, artifact: artifactOf(Buffer.from("8004950500000000000000", "hex")) }, "never as a pickle"],
  ["an empty source", { ...sent, artifact: artifactOf("") }, "artifact.content.data is empty"],
  ["a source with a zero byte", { ...sent, artifact: artifactOf("x = 1\0") }, "is not text in UTF-8"],
  [
    "base64 with line breaks",
    withArtifact({ content: { encoding: "base64", data: `${sent.artifact.content.data}\n` } }),
    "is not standard base64",
  ],
  ["another kind of artifact", withArtifact({ kind: "pickle" }), "artifact.kind must be python_callable"],
  ["an entrypoint with a path", withArtifact({ entrypoint: "os.system" }), "artifact.entrypoint must be a name"],
  [
    "a newer adapter",
    withArtifact({ adapter: { kind: "scalar_to_arrow_batch", version: 2 } }),
    "adapter.version must be 1",
  ],
  ["no input", withSignature({ inputs: [] }), "signature.inputs is empty"],
  [
    "an input twice",
    withSignature({ inputs: [sent.signature.inputs[0], sent.signature.inputs[0]] }),
    'signature.inputs names "x" twice',
  ],
  [
    "an unknown type",
    withSignature({ output: { kind: "scalar", arrow_type: "varchar" } }),
    "output.arrow_type must be bool",
  ],
  ["a scalar without a type", withSignature({ output: { kind: "scalar" } }), "output.arrow_type is missing"],
  ["a struct without fields", withSignature({ output: { kind: "named_struct" } }), "output.fields is missing"],
  ["a patch version of Python", withRuntime({ python_version: "3.12.1" }), "runtime.python_version must be a minor"],
  ["a GPU of the first kind", withRuntime({ gpu: true }), "runtime.gpu needs the kind python_v2"],
  ["an unknown field", withRuntime({ image: "x" }), "runtime.image is not a field"],
  [
    "a channel by its address",
    withRuntime({ environment: { kind: "conda", packages: ["numpy=2.3"], channels: ["http://x/y"] } }),
    "channels.0 must be a channel's name",
  ],
  [
    "too many packages",
    withRuntime({ environment: { kind: "pip", packages: Array.from({ length: 33 }, (_, at) => `a${at}`) } }),
    "holds more than 32 elements",
  ],
  ["a variable twice", withRuntime({ env: { TOKEN: "x" } }), "secret_bindings set the variable TOKEN twice"],
  ["a variable that is no text", withRuntime({ env: { N: 1 } }), "runtime.env.N must be text"],
  [
    "the value of a secret",
    { ...sent, secret_bindings: [{ ...(sent.secret_bindings as Sent["secret_bindings"])[0], value: "hunter2" }] },
    "secret_bindings.0.value is not a field",
  ],
])("%s is refused", (_, body, fault) => {
  expect(faultsOf(body)).toEqual([expect.stringContaining(fault)]);
});

test.each([
  ...["--index-url=http://x", "-e .", "git+https://x/y", "numpy @ https://x/n.whl", "./local", "a; python_version>'3'"],
  ...["numpy --pre", "numpy\n--pre", "https://x/n.whl", "/tmp/n.whl", "numpy=="],
])("the requirement %j is refused", (requirement) => {
  expect(faultsOf(withRuntime({ environment: { kind: "pip", packages: [requirement] } }))).toEqual([
    expect.stringContaining("runtime.environment.packages.0 must be a package's name with versions"),
  ]);
});

test.each(["numpy", "numpy==2.3.1", "torch>=2,<3", "ray[data,serve]~=2.5", "a.b-c_d == 1.*"])(
  "the requirement %j is taken",
  (requirement) => {
    expect(faultsOf(withRuntime({ environment: { kind: "pip", packages: [requirement] } }))).toEqual([]);
  },
);

test.each([
  ...["PYTHONPATH", "pythonpath", "LD_PRELOAD", "RAY_ADDRESS", "AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS"],
  ...["PIP_INDEX_URL", "LAKEHEAD_NONCE", "PATH", "HTTPS_PROXY"],
])("the variable %s is refused, as text and as a secret", (variable) => {
  const fault = expect.stringContaining("is a variable of Python, of Ray or of the store's credentials");
  expect(faultsOf(withRuntime({ env: { [variable]: "x" } }))).toEqual([fault]);
  expect(faultsOf({ ...sent, secret_bindings: [{ kind: "env", variable, secret_ref: { name: "hub" } }] })).toEqual([
    fault,
  ]);
});

test.each([
  ["utf8", "string"],
  ["list<utf8>", "list<string>"],
  ["large_list<list<int8>>", "large_list<list<int8>>"],
  ["fixed_size_list<float32, 768>", "fixed_size_list<float32, 768>"],
  ["fixed_size_list<fixed_size_list<float16,2>, 3>", "fixed_size_list<fixed_size_list<float16, 2>, 3>"],
  ["fixed_size_list<float32, 0>", undefined],
  ["fixed_size_list<float32, 999999>", undefined],
  ["list<>", undefined],
  ["list<int8", undefined],
  ["constructor", undefined],
  ["list<blob_v2>", undefined],
  [
    '{"type": "list", "fields": [{"type": {"type": "utf8"}, "nullable": true, "name": "item"}]}',
    '{"fields":[{"name":"item","nullable":true,"type":{"type":"utf8"}}],"type":"list"}',
  ],
  [
    '{"fields":[{"name":"a","nullable":false,"type":{"fields":[{"name":"item","nullable":true,"type":{"type":"float32"}}],"length":4,"type":"fixed_size_list"}}],"type":"struct"}',
    '{"fields":[{"name":"a","nullable":false,"type":{"fields":[{"name":"item","nullable":true,"type":{"type":"float32"}}],"length":4,"type":"fixed_size_list"}}],"type":"struct"}',
  ],
  ['{"fields":[{"name":"item","nullable":true,"type":{"type":"varchar"}}],"type":"list"}', undefined],
  ['{"fields":[{"name":"item","nullable":true,"type":{"type":"int8"},"metadata":{}}],"type":"list"}', undefined],
  ['{"fields":[],"type":"struct"}', undefined],
  [
    `${'{"type":"list","fields":[{"name":"item","nullable":true,"type":'.repeat(9)}{"type":"int8"}${"}]}".repeat(9)}`,
    undefined,
  ],
  ['{"type":', undefined],
  [`${"list<".repeat(40)}int8${">".repeat(40)}`, undefined],
])("the type %s is described as %s", (type, described) => {
  expect(describedType(type)).toBe(described);
});
