/**
 * `npm run test:image`: builds the image and checks it. Without Docker or Podman, the Dockerfile's steps run in a directory,
 * and its command runs there isolated like a container.
 */
import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "../../service/auth/index.ts";
import { environment as names } from "../../service/contract.ts";
import { writeTables } from "../../tools/lance-tables.ts";
import { plain } from "../support/tables.ts";
import { checks } from "./checks.ts";
import type { Image } from "./container.ts";
import { directoryImage } from "./directory.ts";
import { containerConfig, parseDockerfile } from "./dockerfile.ts";
import { engineImage, findEngine } from "./engine.ts";
import { readProjectFile } from "./perform.ts";

/** Timeout of a check, longer than any takes. */
const checkMs = 90_000;

const log = (line: string): void => void process.stdout.write(`${line}\n`);

const build = async (bases: readonly string[]): Promise<Image> => {
  const { program, missing } = await findEngine(bases);
  if (program !== undefined) return engineImage(program, log);
  log(`skipped: building by a container engine, because ${missing}; instead:`);
  return directoryImage(log);
};

/** A database that any user may write. */
const makeDatabase = async (): Promise<string> => {
  const data = await mkdtemp(join(tmpdir(), "lakehead-image-data-"));
  await writeTables(data, [plain]);
  const paths = [data, ...(await readdir(data, { recursive: true })).map((name) => join(data, name))];
  for (const path of paths) await (process.getuid?.() === 0 ? chown(path, 1000, 1000) : chmod(path, 0o777));
  return data;
};

const inTime = async (check: Promise<void>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not within ${checkMs / 1000} s`)), checkMs);
  try {
    await Promise.race([check, promise]);
  } finally {
    clearTimeout(timer);
  }
};

const data = await makeDatabase();
const stages = parseDockerfile(await readProjectFile("Dockerfile"));
const stage = stages.at(-1);
if (stage === undefined) throw new Error("the Dockerfile has no stage");
const image = await build(stages.map(({ base }) => base));
const token = randomBytes(24).toString("base64url");
const sha256 = createHash("sha256").update(token).digest("hex");
const container = await image.start(data, {
  [names.staticTokens]: JSON.stringify([{ name: "image", sha256, scopes, tables: ["**"] }]),
});
log(`the image: ${image.kind}\nsize: ${image.size}`);

let passed = 0;
let failed = 0;
try {
  const subject = { container, config: containerConfig(stage), token };
  for (const [title, check] of Object.entries(checks))
    try {
      await inTime(check(subject));
      passed++;
      log(`ok      ${title}`);
    } catch (error) {
      failed++;
      log(`FAILED  ${title}: ${error instanceof Error ? error.message : String(error)}`);
      // Without a running container the other checks mean nothing.
      if (passed === 0) break;
    }
  if (failed > 0) log(`what it printed:\n${(await container.log()).slice(-4000)}`);
} finally {
  await container.remove();
  await image.remove();
  await rm(data, { recursive: true, force: true });
}
log(`${passed} passed, ${failed} failed, 0 skipped`);
// A check that timed out may still be pending.
process.exit(failed === 0 ? 0 : 1);
