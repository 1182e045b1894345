/** Holds `pulumi.com/waitFor` against the parser of Pulumi's Kubernetes provider, the Go module github.com/theory/jsonpath. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type GoProgram, goSource } from "../../tools/parts/go.ts";
import { waits } from "../e2e/support/kubernetes/readiness.ts";
import { waitsOf } from "../infra/program/checks/waits.ts";
import { exampleStacks, runStack } from "../support/infra/stacks.ts";

interface Question {
  readonly expression: string;
  readonly object: unknown;
}
interface Answer {
  readonly error?: string;
  /** Whether the expression selects something in the object. */
  readonly found: boolean;
}

/** A finding of the suite: what was looked at, and its faults. */
export interface Finding {
  readonly what: string;
  readonly faults: readonly string[];
}

async function ask(program: string, questions: readonly Question[]): Promise<Answer[]> {
  const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(questions));
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Answer[];
}

const quota = "kubernetes:core/v1:ResourceQuota ray-cluster-quota";
const used = (counts: object) => ({ status: { hard: { "count/rayclusters.ray.io": "4" }, used: counts } });

const planted = [
  "jsonpath={.status.used.count/rayclusters\\.ray\\.io}",
  "jsonpath={.metadata.annotations.a\\.b}",
  "jsonpath={.status.used.a-b}",
  "jsonpath=.status.phase",
];

function standInTakes(expression: string): boolean {
  try {
    waits(expression);
    return true;
  } catch {
    return false;
  }
}

/** Every expression of every example stack's plan, and expressions that the parser must refuse. */
async function judge(program: string): Promise<Finding[]> {
  const expected = (
    await Promise.all(
      exampleStacks.map(async (stack) =>
        waitsOf(await runStack(stack, "update")).map((wait) => ({ ...wait, name: `${stack}: ${wait.name}` })),
      ),
    )
  ).flat();
  const paths = expected.filter(({ expression }) => expression.startsWith("jsonpath="));
  const parsed = await ask(
    program,
    paths.map(({ expression }) => ({ expression, object: {} })),
  );
  const counted = paths.find(({ name }) => name.endsWith(quota))?.expression ?? "";
  const [before, after] = await ask(program, [
    { expression: counted, object: used({}) },
    { expression: counted, object: used({ "count/rayclusters.ray.io": "1" }) },
  ]);
  const refused = await ask(
    program,
    planted.map((expression) => ({ expression, object: {} })),
  );
  return [
    {
      what: `${paths.length} paths that the Kubernetes provider waits for, by its own parser`,
      faults: [
        ...(paths.length === 0 ? ["no plan has one"] : []),
        ...parsed.flatMap(({ error }, index) => (error === undefined ? [] : [`${paths[index]?.name}: ${error}`])),
      ],
    },
    {
      what: "the quota's path leads to the count of RayClusters, and nowhere before it is counted",
      faults: before?.found === false && after?.found === true ? [] : [JSON.stringify({ before, after })],
    },
    {
      what: "the parser refuses what only kubectl reads, and so does the stand-in of the end-to-end tests",
      faults: planted.flatMap((expression, index) => [
        ...(refused[index]?.error === undefined ? [`the parser takes ${expression}`] : []),
        ...(standInTakes(expression) ? [`the stand-in takes ${expression}`] : []),
      ]),
    },
  ];
}

/** @returns what is missing in place of findings */
export async function judgeWaits(
  log: (line: string) => void,
): Promise<{ readonly findings: readonly Finding[] } | { readonly missing: string }> {
  const built: GoProgram = await goSource(fileURLToPath(new URL("./jsonpath", import.meta.url)), log);
  return built.program === undefined ? { missing: built.missing } : { findings: await judge(built.program) };
}
