/** A Dockerfile as data: the instructions that this project's file may use. */
export type Instruction =
  | { readonly kind: "workdir"; readonly path: string }
  | { readonly kind: "copy"; readonly from?: string; readonly sources: readonly string[]; readonly to: string }
  | { readonly kind: "run"; readonly command: readonly string[] }
  | { readonly kind: "env"; readonly values: Readonly<Record<string, string>> }
  | { readonly kind: "user"; readonly user: string }
  | { readonly kind: "expose"; readonly ports: readonly number[] }
  | { readonly kind: "volume"; readonly paths: readonly string[] }
  | { readonly kind: "healthcheck"; readonly command: readonly string[] }
  | { readonly kind: "cmd"; readonly command: readonly string[] };

export interface Stage {
  readonly base: string;
  readonly name?: string;
  readonly instructions: readonly Instruction[];
}

/** Lines with their continuations joined, without comments. */
const logicalLines = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const execForm = (text: string, line: string): string[] => {
  const command: unknown = text.startsWith("[") ? JSON.parse(text) : undefined;
  if (!Array.isArray(command) || !command.every((word) => typeof word === "string"))
    throw new Error(`${line}: not in the exec form ["program", "argument"], so a shell would run it`);
  return command;
};

const words = (text: string): string[] => text.split(/\s+/);

const pairs = (text: string, line: string): Record<string, string> =>
  Object.fromEntries(
    words(text).map((word) => {
      const match = /^(\w+)=([^\s"'$]+)$/.exec(word);
      if (match === null) throw new Error(`${line}: ${word} is not NAME=value without quotes and variables`);
      return [match[1], match[2]];
    }),
  );

const readCopy = (text: string, line: string): Instruction => {
  const from = /^--from=(\S+)\s+/.exec(text);
  const rest = words(from === null ? text : text.slice(from[0].length));
  const to = rest.pop();
  if (to === undefined || rest.length === 0 || rest.some((word) => word.startsWith("--")))
    throw new Error(`${line}: expected COPY [--from=stage] source… destination`);
  return { kind: "copy", ...(from?.[1] === undefined ? {} : { from: from[1] }), sources: rest, to };
};

const readers: Readonly<Record<string, (text: string, line: string) => Instruction>> = {
  WORKDIR: (path) => ({ kind: "workdir", path }),
  COPY: readCopy,
  RUN: (text, line) => ({ kind: "run", command: execForm(text, line) }),
  ENV: (text, line) => ({ kind: "env", values: pairs(text, line) }),
  USER: (user) => ({ kind: "user", user }),
  EXPOSE: (text) => ({ kind: "expose", ports: words(text).map(Number) }),
  VOLUME: (text, line) => ({ kind: "volume", paths: execForm(text, line) }),
  HEALTHCHECK: (text, line) => ({
    kind: "healthcheck",
    command: execForm(text.replace(/^(--\S+\s+)*CMD\s+/, ""), line),
  }),
  CMD: (text, line) => ({ kind: "cmd", command: execForm(text, line) }),
};

/** @throws Error that names the line, for anything that is not among the instructions above. */
export const parseDockerfile = (text: string): readonly [Stage, ...Stage[]] => {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of logicalLines(text)) {
    const [, keyword = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === "FROM") {
      const [base = "", as, name] = words(rest);
      stages.push({ base, ...(as?.toUpperCase() === "AS" && name !== undefined ? { name } : {}), instructions: [] });
      continue;
    }
    const read = readers[keyword];
    const stage = stages.at(-1);
    if (read === undefined || stage === undefined) throw new Error(`${line}: not an instruction that is known here`);
    stage.instructions.push(read(rest, line));
  }
  const [first, ...others] = stages;
  if (first === undefined) throw new Error("the Dockerfile has no FROM");
  return [first, ...others];
};

/** Container configuration of the last stage: the last instruction of each kind counts. */
export interface ContainerConfig {
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly command: readonly string[] | undefined;
  readonly healthCheck: readonly string[] | undefined;
  readonly ports: readonly number[];
  /** Paths that may be written. */
  readonly volumes: readonly string[];
}

export const containerConfig = ({ instructions }: Stage): ContainerConfig => {
  const all = <K extends Instruction["kind"]>(kind: K) =>
    instructions.filter((entry): entry is Extract<Instruction, { kind: K }> => entry.kind === kind);
  return {
    workdir: all("workdir").at(-1)?.path ?? "/",
    environment: Object.assign({}, ...all("env").map(({ values }) => values)),
    user: all("user").at(-1)?.user,
    command: all("cmd").at(-1)?.command,
    healthCheck: all("healthcheck").at(-1)?.command,
    ports: all("expose").flatMap(({ ports }) => ports),
    volumes: all("volume").flatMap(({ paths }) => paths),
  };
};

/** Whether a `.dockerignore` excludes a path of the build context: the last matching pattern decides. */
export const isIgnored = (patterns: string, path: string): boolean => {
  const lines = patterns.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const fitting = lines.findLast((line) => {
    const pattern = line.replace("!", "");
    return pattern === "**" || path === pattern || path.startsWith(`${pattern}/`);
  });
  return fitting !== undefined && !fitting.startsWith("!");
};
