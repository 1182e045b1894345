/** `npm run alerts`: prints the alerts as a Prometheus rule file. */
import { stringify } from "yaml";
import { readArguments, runCommand, UsageError } from "./command-line.ts";
import { ruleGroups } from "./model/alerts.ts";

const usage = `usage: npm run --silent alerts -- [options]

  --namespace <name>   the stack's namespace (default: lancedb)
  --runbooks <url>     where docs/operations.md can be read (default: docs)
`;

await runCommand(usage, [], async () => {
  const { values, positionals } = readArguments({
    namespace: { type: "string", default: "lancedb" },
    runbooks: { type: "string", default: "docs" },
  });
  if (values.help) return void process.stdout.write(usage);
  if (positionals.length > 0) throw new UsageError(`unexpected argument "${positionals[0]}"`);
  process.stdout.write(stringify({ groups: ruleGroups(values.namespace, values.runbooks) }));
});
