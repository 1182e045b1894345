import { z } from "zod";
import { count, flag, memory } from "./fields.ts";

/** The fields of node pools that AWS and Google Cloud share. */

/** For the system and head pools, whose nodes must not be reclaimed. */
export const onDemand = z
  .literal(false, { error: "false: losing this node ends every job" })
  .default(false)
  .describe("Never spot");

export const spotAllowed = (value: boolean) => z.boolean().default(value).describe("Use spot capacity");

export const headTaint = z
  .enum(["PreferNoSchedule", "NoSchedule"])
  .default("PreferNoSchedule")
  .describe(
    "Effect of the taint that keeps other pods away; with `NoSchedule` a client's head group must tolerate the label's key",
  );

export const gpuEnabled = flag(true, "Create the GPU pool");

/** The size of a machine type that the cloud's `machines.ts` does not list. */
export const machineSize = z
  .strictObject({
    cpus: count(1, 1024).describe("CPUs of the machine"),
    memory: memory.describe("Memory of the machine"),
    gpus: count(0, 16).default(0).describe("GPUs of the machine"),
    architecture: z.enum(["x86_64", "arm64"]).default("x86_64").describe("Processor architecture"),
  })
  .optional()
  .describe("Size of the machine type, when it is not a listed one");
