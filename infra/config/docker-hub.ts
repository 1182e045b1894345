import { z } from "zod";

export const dockerHubSchema = z
  .strictObject({
    cache: z
      .boolean()
      .default(false)
      .describe(
        "Make a pull-through cache of Docker Hub, and pull every image of Docker Hub by way of it: Ray's, and those that the configuration names",
      ),
    username: z
      .string()
      .regex(/^[a-z0-9]{2,30}$/, { error: "the name of an account on Docker Hub" })
      .optional()
      .describe(
        "Account on Docker Hub that the cache pulls as, with the secret `dockerHubToken`; required by `cache` on AWS",
      ),
  })
  .prefault({})
  .describe("Images of Docker Hub");
