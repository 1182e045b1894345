/** The stand-in for the clouds, which the end-to-end tests run on the engine. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cloud } from "../../e2e/providers/cloud.ts";
import { Journal } from "../../e2e/providers/journal.ts";
import { StandIn } from "../../e2e/providers/provider.ts";

const cloud: Cloud = {
  sdk: "@pulumi/aws",
  references: {},
  refusals: {},
  refusedUpdates: {},
  keeps: {},
  inherited: () => ({}),
  refuseConfiguration: () => undefined,
  onUpdate: {},
};
const nothing = () => Promise.resolve();

test("gives resources without a name different ids, also when they are created at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lakehead-stand-in-"));
  try {
    const settings = {
      folder,
      apiHost: "",
      apiCa: "",
      apiToken: "",
      account: "",
      principal: "",
      minute: 0,
      fail: undefined,
    };
    const journal = new Journal(join(folder, "journal"));
    const standIn = new StandIn(cloud, journal, settings, nothing);
    const type = "aws:s3/bucketPolicy:BucketPolicy";
    const members = ["first", "second", "third"];
    await Promise.all(
      members.map((member) =>
        standIn.create(type, `urn:pulumi:a::b::${type}::${member}`, { bucket: "tables", policy: member }),
      ),
    );
    expect(journal.items().map(({ inputs }) => inputs.policy)).toEqual(members);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
