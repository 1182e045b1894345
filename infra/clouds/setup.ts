import type { Line } from "../check-line.ts";
import type { Config } from "./schema.ts";

export type Answers = Readonly<Record<string, string>>;

/** Keys below a namespace, such as `bucket.name`, with their new values; undefined removes one. */
export type Keys = Readonly<Record<string, unknown>>;

/** A value of `npm run setup`: an option of the command line, and a question unless it was found. */
export interface Field {
  readonly option: string;
  readonly question: string;
  /** The stack's key that the answer decides: what the schema says of the key refuses the answer. */
  readonly key?: string;
  /** Form of an answer that decides no key of the stack, and the words for it. */
  readonly form?: readonly [pattern: RegExp, words: string];
  /** Asked of a person even if there is a proposal, which they may keep. */
  readonly asked: boolean;
}

/** What one cloud adds to `npm run setup`. */
export interface CloudSetup {
  /** Where to look: answered before `look`. */
  readonly place: readonly Field[];
  readonly fields: readonly Field[];
  /** Proposals for the place, from the cloud's own settings on this machine. */
  readonly here: () => Promise<Answers>;
  /** Asks the cloud. @returns a line for each thing, and proposals for the fields */
  readonly look: (
    stack: string,
    place: Answers,
  ) => Promise<{ readonly lines: readonly Line[]; readonly found: Answers }>;
  readonly stackKeys: (stack: string, answers: Answers) => Keys;
  /** Keys of `bootstrap/`; none where a cloud has no such program. */
  readonly bootstrapKeys: (stack: string, answers: Answers) => Keys | undefined;
  /** What can only be asked once the configuration is complete. */
  readonly quotas: (config: Config, stack: string) => Promise<readonly Line[]>;
}

export const listOf = (answer: string): string[] =>
  answer
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** Fields that every cloud has. */
export const tokenFields: readonly Field[] = [
  {
    option: "issuer",
    question: "Issuer of the tokens that callers of the table service have (OpenID Connect, https://…)",
    key: "tableService.auth.issuer",
    asked: true,
  },
  { option: "audience", question: "Audience in these tokens", key: "tableService.auth.audience", asked: true },
];
export const tokenKeys = ({ issuer, audience }: Answers): Keys => ({
  "tableService.auth.issuer": issuer,
  "tableService.auth.audience": audience,
});

/** Fields of `bootstrap/`. */
export const bootstrapFields: readonly Field[] = [
  {
    option: "repository",
    question: "Repository on GitHub whose workflows deploy (<owner>/<repository>)",
    form: [/^[A-Za-z0-9-]+\/[\w.-]+$/, "<owner>/<repository>"],
    asked: true,
  },
  {
    option: "state-bucket",
    question: "Bucket for Pulumi's state",
    form: [/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, "3 to 63 lower-case letters, digits and inner hyphens"],
    asked: false,
  },
];
