import { flag, form, group } from "./fields.ts";

export const dockerHubSchema = group("Images of Docker Hub", {
  cache: flag(
    false,
    "Make a pull-through cache of Docker Hub, and pull every image of Docker Hub by way of it: Ray's, and those that the configuration names",
  ),
  username: form(/^[a-z0-9]{2,30}$/, "the name of an account on Docker Hub")
    .optional()
    .describe(
      "Account on Docker Hub that the cache pulls as, with the secret `dockerHubToken`; required by `cache` on AWS",
    ),
});
