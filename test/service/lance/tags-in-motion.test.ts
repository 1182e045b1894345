import { describe, expect, test } from "vitest";
import { type TestService, useService } from "../../support/service.ts";
import { useStoredService } from "../store/support.ts";

const local = useService();
const stored = useStoredService({ consistencySeconds: 60 });

/** Statuses with their codes, by operation. */
type Outcomes = Readonly<Record<string, ReadonlySet<string>>>;

/** Two callers of each operation, all on one tag. */
const race = async (
  service: TestService,
  calls: Readonly<Record<string, object>>,
  turns: number,
): Promise<Outcomes> => {
  const outcomes = Object.fromEntries(Object.keys(calls).map((operation) => [operation, new Set<string>()]));
  const caller = async ([operation, body]: [string, object]): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) {
      const { status, body: answer } = await service.call(operation, "docs", body);
      outcomes[operation]?.add(status === 200 ? "200" : `${status} code ${answer.code}`);
    }
  };
  await Promise.all([...Object.entries(calls), ...Object.entries(calls)].map(caller));
  return outcomes;
};

describe.each([
  ["a local directory", () => local],
  ["a bucket", () => stored.service],
])("in %s", (_, service) => {
  test("a tag that is created, moved, read and deleted at once exists or does not", async () => {
    const tag = "contested";
    const outcomes = await race(
      service(),
      {
        "tags/create": { tag, version: 1 },
        "tags/delete": { tag },
        "tags/update": { tag, version: 2 },
        "tags/version": { tag },
        describe: { tag },
      },
      30,
    );
    const found = expect.toSatisfy((seen: string) => ["200", "404 code 8"].includes(seen));
    for (const operation of ["tags/delete", "tags/update", "tags/version", "describe"])
      for (const outcome of outcomes[operation] as ReadonlySet<string>) expect(outcome, operation).toEqual(found);
    expect(outcomes["tags/create"]).toEqual(new Set(["200", "409 code 9"]));
  });
});

test("a list of tags contains every existing tag while others are created and deleted", async () => {
  await local.call("tags/create", "docs", { tag: "kept", version: 1 });
  let listing = true;
  const churn = async (tag: string): Promise<void> => {
    while (listing)
      for (const [operation, body] of [
        ["tags/create", { tag, version: 1 }],
        ["tags/delete", { tag }],
      ] as const)
        expect((await local.call(operation, "docs", body)).status).toBe(200);
  };
  const churning = Promise.all(["first", "second"].map(churn));
  const lists = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const answers = [];
      for (let turn = 0; turn < 25; turn++) answers.push(await local.call("tags/list", "docs"));
      return answers;
    }),
  );
  listing = false;
  await churning;
  for (const answer of lists.flat()) expect(answer.body.tags).toHaveProperty("kept");
});
