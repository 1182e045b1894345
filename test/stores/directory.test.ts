import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { acceptance } from "./acceptance.ts";
import { blobs } from "./blobs.ts";
import { clientWrites } from "./client-writes.ts";
import { crashesOfDirectory } from "./crashes.ts";
import { fullDisk } from "./full-disk.ts";
import { fill, type Place } from "./place.ts";
import { replicas } from "./replicas.ts";
import { writers } from "./writers.ts";

describe("a local directory", () => {
  let place: Place;
  beforeAll(async () => {
    place = { uri: await mkdtemp(join(tmpdir(), "lakehead-stores-")), storageOptions: {} };
    await fill(place);
  });
  afterAll(() => rm(place.uri, { recursive: true, force: true }));

  acceptance(() => place);
  clientWrites(() => place);
  blobs(() => place);
  replicas(() => place);
  crashesOfDirectory(() => place);
  fullDisk();
  writers(() => place);
});
