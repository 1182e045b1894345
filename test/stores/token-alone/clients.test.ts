import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceProcess } from "../../support/service-process.ts";
import { type Client, clients, operationsOf, stores } from "./matrix.ts";
import { clientsPython, inPython, inSpark, sparkClasses } from "./programs.ts";
import {
  life,
  longLife,
  type Place,
  personsParameters,
  personsToken,
  serveTables,
  slow,
  startStore,
} from "./stores.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [python, spark] = await Promise.all([clientsPython(print), sparkClasses(print)]);

const programs = {
  python: (client: string, seconds: number, uri: string) =>
    inPython(python.python ?? "", client, seconds, personsParameters(uri)),
  java: (_: string, seconds: number, uri: string) => inSpark(spark.classPath ?? "", seconds, uri, personsToken),
} as const;
const unavailable = { python: python.missing, java: spark.missing };
const own = Object.entries(clients).filter(([, { suite }]) => suite === undefined);

describe.each(stores)("on %s, with a token alone", (name) => {
  let store: Place | { readonly missing: string };
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    store = await startStore[name](print);
    if (!("missing" in store)) service = await serveTables(store);
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    if (!("missing" in store)) await store.stop();
  });

  /** What the store lent while a client worked, whose credentials lived for these seconds. */
  const whileLent = async (seconds: number, work: (base: string) => Promise<void>) => {
    if ("missing" in store || service === undefined) throw new Error("there is no store");
    store.lend?.(seconds);
    const before = store.lent?.();
    await work(service.base);
    const after = store.lent?.();
    if (before === undefined || after === undefined) return undefined;
    const [opened = 0, wrote = 0, late = 0] = (["opened", "wroteWith", "late"] as const).map(
      (what) => after[what] - before[what],
    );
    return { opened, wrote, late };
  };

  const missingFor = ({ program = "python", notOn }: Client): string | undefined =>
    "missing" in store ? `${store.missing} is missing` : (unavailable[program] ?? notOn?.[name]);

  test.for(own)("%s does what the matrix says", { timeout: 420_000 }, async ([client, entry], { skip }) => {
    const missing = missingFor(entry);
    if (missing !== undefined) print(`skipped: ${entry.title} on ${name}: ${missing}`);
    if (missing !== undefined) return skip();
    const renews = name !== "a directory" && entry.noRenewal === undefined;
    const seen = await whileLent(renews ? life : longLife, async (base) => {
      const done = await programs[entry.program ?? "python"](client, renews ? slow : 0, base);
      expect(done).toEqual(operationsOf(entry));
    });
    if (seen === undefined) return;
    print(`${client} on ${name}: ${seen.opened} credentials, ${seen.wrote} wrote, ${seen.late} requests too late`);
    if (renews) expect(seen.wrote).toBeGreaterThan(2);
    expect(seen.late).toBe(0);
  });

  const others = own.filter(([, { noRenewal }]) => noRenewal !== undefined);
  test.skipIf(name !== "S3").for(others)(
    "%s refuses to commit a write that took longer than its credentials",
    { timeout: 420_000 },
    async ([client, entry], { skip }) => {
      if (missingFor(entry) !== undefined) return skip();
      const seen = await whileLent(life, (base) =>
        expect(programs.python(client, slow, base)).rejects.toThrow(/commit[\s\S]*ExpiredToken/),
      );
      expect(seen?.late).toBeGreaterThan(0);
    },
  );
});
