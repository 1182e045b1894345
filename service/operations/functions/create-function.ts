import { z } from "zod";
import { type Definition, describeVersion, digestOf, type Functions } from "../../functions/index.ts";
import { JobFailed, type JobHandler } from "../../jobs/index.ts";

/** What a job of the type `create_function` does. The definition was verified, and its source kept, before it started. */
export const createFunctionSpec = z.object({
  id: z.array(z.string()).min(1),
  definition: z.custom<Definition>((value) => typeof value === "object" && value !== null),
});

/** Registers a Function. Performed again, it finds what it has registered. */
export const createFunctionHandler = (functions: Pick<Functions, "register">): JobHandler => ({
  resumable: true,
  perform: async ({ id: objectId, owner, spec }) => {
    const { id, definition } = createFunctionSpec.parse(spec);
    const made = await functions.register({ objectId, id, definition, digest: digestOf(definition), owner });
    if (made === undefined)
      throw new JobFailed("register", "the source is no longer kept: register the Function again", true);
    return describeVersion(made);
  },
});
