import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { requiredServices } from "./required-services.ts";

/** How Google refuses a request to an API that is off, or was enabled a moment ago. */
const refusal = /SERVICE_DISABLED|accessNotConfigured|has not been used in project \S+ before or it is disabled/;

/** Google asks to wait "a few minutes" after an API was enabled. */
const retries = { pauseSeconds: 5, limit: 60 } as const;

/** Whether to repeat an operation that failed so often, newest error first: at most for five minutes. */
export const repeats = (errors: readonly string[]): boolean =>
  errors.length <= retries.limit && refusal.test(errors[0] ?? "");

/**
 * Repeats what Google refuses because an API was enabled a moment ago, in a project that is new. The provider does not.
 * As `hooks.onError` of a resource.
 */
export const awaitService = (): pulumi.ErrorHook =>
  new pulumi.ErrorHook("await-service", async ({ name, errors }) => {
    if (!repeats(errors)) return false;
    if (errors.length === 1)
      await pulumi.log.info(`${name}: waiting until Google's API answers, which was enabled just now`);
    await new Promise((resolve) => setTimeout(resolve, retries.pauseSeconds * 1000));
    return true;
  });

/** Gives the hook to every resource of the provider below a component. */
export const awaitServices = (): pulumi.ResourceTransform => {
  const hook = awaitService();
  return ({ type, custom, props, opts }) =>
    custom && type.startsWith("gcp:")
      ? { props, opts: { ...opts, hooks: { ...opts.hooks, onError: [hook] } } }
      : undefined;
};

/** Enables the project's APIs. A destroy keeps them enabled, because other users of the project may need them. */
export class Services extends pulumi.ComponentResource {
  constructor(name: string, args: { readonly project: string }, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Services", name, {}, opts);
    for (const service of requiredServices) {
      new gcp.projects.Service(
        `${name}-${service.replace(".googleapis.com", "")}`,
        { project: args.project, service, disableOnDestroy: false },
        { parent: this },
      );
    }
  }
}
