/**
 * The GitHub environments of the workflows: which identity each has, which token it trusts, and the commands that set it up.
 * Pure.
 */

export const issuer = "https://token.actions.githubusercontent.com";

export interface Repository {
  /** `<owner>/<repository>` */
  readonly repository: string;
  readonly ownerId?: number | undefined;
  readonly repositoryId?: number | undefined;
}

/** What the workflows do in an environment: `up.yml`, `preview.yml`, and `drift.yml` with the plan of `up.yml`. */
export type Purpose = "deploy" | "preview" | "drift";

const suffixes = { deploy: "", preview: "-preview", drift: "-drift" } as const satisfies Record<Purpose, string>;

export interface Environment {
  readonly name: string;
  readonly stack: string;
  readonly purpose: Purpose;
  /** The `sub` of the tokens that GitHub gives its jobs. */
  readonly subject: string;
  /** Further claims that a job's token must have; AWS compares them since January 2026. */
  readonly claims: Readonly<Record<string, string | readonly string[]>>;
}

/** The workflows with an environment of each purpose, below `.github/workflows`. */
const workflows = { deploy: ["up.yml"], drift: ["up.yml", "drift.yml"] } as const;

/**
 * Jobs of deployments and of the drift check run on `main`, by the workflow files of `main`. A pull request runs its own file, so
 * previews compare no workflow.
 */
function claimsOf(purpose: Purpose, { repository, repositoryId }: Repository): Environment["claims"] {
  const onMain = (file: string) => `${repository}/.github/workflows/${file}@refs/heads/main`;
  return {
    ...(repositoryId === undefined ? {} : { repository_id: String(repositoryId) }),
    ...(purpose === "preview"
      ? {}
      : { ref: "refs/heads/main", job_workflow_ref: workflows[purpose].map((file) => onMain(file)) }),
  };
}

/**
 * The subject of a job with an environment. Repositories that were created or renamed since 15 July 2026 have the immutable
 * form, with the numbers of owner and repository; others can opt in.
 * Source: github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens
 */
export function subjectOf({ repository, ownerId, repositoryId }: Repository, environment: string): string {
  const [owner, name] = repository.split("/");
  const subject = ownerId === undefined ? repository : `${owner}@${ownerId}/${name}@${repositoryId}`;
  return `repo:${subject}:environment:${environment}`;
}

/** The environments of the stacks, three for each. */
export function environmentsOf(stacks: readonly string[], repository: Repository): Environment[] {
  return stacks.flatMap((stack) =>
    (Object.keys(suffixes) as Purpose[]).map((purpose) => {
      const name = `${stack}${suffixes[purpose]}`;
      return { name, stack, purpose, subject: subjectOf(repository, name), claims: claimsOf(purpose, repository) };
    }),
  );
}

/** The variables of one environment, as the workflows read them. */
export type Variables = Readonly<Record<string, string>>;

export interface StackAccess {
  /** For `pulumi login` and PULUMI_BACKEND_URL. */
  readonly backend: string;
  /** For `--secrets-provider` of the command that creates the stack. */
  readonly secretsProvider: string;
}

export interface SetUp {
  /** This program's own stack, and where its state moves. */
  readonly bootstrap: { readonly stack: string; readonly backend: string };
  readonly repository: Repository;
  readonly environments: readonly Environment[];
  readonly variables: Readonly<Record<string, Variables>>;
  readonly stacks: Readonly<Record<string, StackAccess>>;
}

/** What a cloud's part of the program made. */
export interface Made {
  readonly setUp: SetUp;
  /** Keys of `Pulumi.<stack>.yaml` that name the identities, by stack. */
  readonly stackKeys: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** How a person acts as the deployers: profiles of AWS, commands of gcloud. */
  readonly deployerCredentials: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * A shell script, which may run again: the program's own state moves into the bucket, the states of the stacks are created, then
 * the environments with their variables, limited to `main` unless for previews. GitHub comes last: who deploys without it has
 * the states.
 */
export function commandsOf({ bootstrap, repository: { repository }, environments, variables, stacks }: SetUp): string {
  const api = `repos/${repository}/environments`;
  const own = (command: string) => `npx pulumi -C bootstrap stack ${command}`;
  const states = Object.entries(stacks).flatMap(([stack, { backend, secretsProvider }]) => [
    `npx pulumi login ${quoted(backend)}`,
    `npx pulumi stack select ${stack} --create --secrets-provider ${quoted(secretsProvider)}`,
  ]);
  const limit = ["protected_branches=false", "custom_branch_policies=true"]
    .map((setting) => `-F ${quoted(setting.replace(/^(\w+)/, "deployment_branch_policy[$1]"))}`)
    .join(" ");
  const made = environments.flatMap(({ name, purpose }) => [
    ...(purpose === "preview"
      ? [`gh api --silent --method PUT ${api}/${name}`]
      : [
          `gh api --silent --method PUT ${api}/${name} ${limit}`,
          `gh api --silent --method POST ${api}/${name}/deployment-branch-policies -f name=main`,
        ]),
    ...Object.entries(variables[name] ?? {}).map(
      ([variable, value]) => `gh variable set ${variable} --repo ${repository} --env ${name} --body ${quoted(value)}`,
    ),
  ]);
  const list = `gh variable set STACKS --repo ${repository} --body ${quoted(JSON.stringify(Object.keys(stacks)))}`;
  return [
    "set -e",
    "# The state of bootstrap/ itself moves into the bucket. Only administrators reach its folder.",
    own(`export --stack ${bootstrap.stack} --file bootstrap.json`),
    `npx pulumi login ${quoted(bootstrap.backend)}`,
    own(`select ${bootstrap.stack} --create`),
    own(`import --stack ${bootstrap.stack} --file bootstrap.json`),
    "rm bootstrap/bootstrap.json",
    "# The state of each stack. Its key is written into Pulumi.<stack>.yaml: commit that.",
    ...states,
    "# The GitHub environments. Add required reviewers to those of production yourself.",
    ...made,
    "# Switches deployment on. Stacks of another account or project belong into the same list.",
    list,
    "",
  ].join("\n");
}
