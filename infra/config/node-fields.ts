import { z } from "zod";
import { count, memory } from "./fields.ts";

/** What node pools have in common on every cloud that creates them. */

/** For pools whose loss ends work: the system's and the heads'. */
export const onDemand = z
  .literal(false, { error: "false: losing this node ends every job" })
  .default(false)
  .describe("Never spot");

export const spotAllowed = (value: boolean) => z.boolean().default(value).describe("Use spot capacity");

export const headTaint = z
  .enum(["PreferNoSchedule", "NoSchedule"])
  .default("PreferNoSchedule")
  .describe("How other pods are kept away; with `NoSchedule` every client's head group must tolerate the label's key");

export const gpuEnabled = z.boolean().default(true).describe("Create the GPU pool");

/** What a machine type has, for types that the catalogue in `infra/model/machines.ts` does not know. */
export const machineSize = z
  .strictObject({
    cpus: count(1, 1024).describe("CPUs of the machine"),
    memory: memory.describe("Memory of the machine"),
    gpus: count(0, 16).default(0).describe("GPUs of the machine"),
    architecture: z.enum(["x86_64", "arm64"]).default("x86_64").describe("Processor architecture"),
  })
  .optional()
  .describe("Size of a machine type that is not known here");
