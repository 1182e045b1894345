/** `node provider.ts <python>`: an AWS provider that the engine starts, whose creations and refreshes ask moto with the caller's rights. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Wire } from "../../infra/offline-plan/recorder.ts";
import { awsCloud } from "../e2e/providers/aws.ts";
import { type Item, Journal } from "../e2e/providers/journal.ts";
import { CloudError, StandIn } from "../e2e/providers/provider.ts";
import { serve } from "../e2e/providers/server.ts";
import { journalPath, readSettings } from "../e2e/providers/settings.ts";

const [python = "python3"] = process.argv.slice(2);
const program = fileURLToPath(new URL("cloud.py", import.meta.url));

function ask(operation: "create" | "read", type: string, id: string, inputs: Wire): void {
  const { status, stderr } = spawnSync(python, [program, operation, type, id], {
    input: JSON.stringify(inputs),
    encoding: "utf8",
  });
  if (status !== 0) throw new CloudError(`${operation} ${type} ${id}: ${stderr}`);
}

class Provider extends StandIn {
  override async create(type: string, urn: string, inputs: Wire) {
    const made = await super.create(type, urn, inputs);
    ask("create", type, String(made.outputs.name ?? made.id), inputs);
    return made;
  }

  override read(type: string, id: string): Item | undefined {
    const item = super.read(type, id);
    if (item !== undefined) ask("read", type, String(item.outputs.name ?? item.outputs.bucket ?? id), item.inputs);
    return item;
  }
}

const settings = readSettings(process.env);
const none = async () => undefined;
await serve(new Provider(awsCloud(settings.account), new Journal(journalPath(settings.folder, "aws")), settings, none));
