/** Policies of Google's IAM: read, changed and written with an etag, with members that exist. */

import { invalid, Refused } from "./refused.ts";

export interface Policy {
  readonly version?: number;
  readonly bindings?: readonly {
    readonly role: string;
    readonly members: readonly string[];
    readonly condition?: unknown;
  }[];
  readonly etag: string;
}

/** Source: cloud.google.com/iam/docs/principal-identifiers */
const memberTypes =
  /^(?:(?:user|serviceAccount|group|domain|principal|principalSet|projectEditor|projectOwner|projectViewer|deleted):.+|allUsers|allAuthenticatedUsers)$/;

export class Policies {
  readonly #project: string;
  readonly #hasAccount: (email: string) => boolean;
  readonly #policies = new Map<string, Policy>();
  /** Of clusters with workload identity; the first makes it, and it stays. */
  readonly #identityPools = new Set<string>();
  #writes = 0;

  constructor(project: string, hasAccount: (email: string) => boolean) {
    this.#project = project;
    this.#hasAccount = hasAccount;
  }

  of(path: string): Policy {
    return this.#policies.get(path) ?? { version: 1, etag: "AA==" };
  }

  /** Roles of a member in the project. */
  rolesOf(member: string): readonly string[] {
    const { bindings = [] } = this.of(`projects/${this.#project}`);
    return bindings.flatMap(({ role, members }) => (members.includes(member) ? [role] : []));
  }

  /** @throws Refused when someone else has written in between, or a role or member is not possible */
  write(path: string, policy: Partial<Policy>): Policy {
    if (policy.etag !== undefined && policy.etag !== this.of(path).etag)
      throw new Refused(409, "ABORTED", "conflict", "There were concurrent policy changes. Please retry.");
    for (const { role, members, condition } of policy.bindings ?? []) {
      if (!/^(?:roles|(?:projects|organizations)\/[^/]+\/roles)\/[\w.]+$/.test(role))
        throw invalid(`Role ${role} is not supported for this resource.`);
      // Source: cloud.google.com/iam/docs/policies#versions
      if (condition !== undefined && Number(policy.version) < 3)
        throw invalid("Policies with conditions must specify version 3.");
      for (const member of members) this.#requireMember(member);
    }
    const kept: Policy = { ...policy, etag: Buffer.from(`policy-${++this.#writes}`).toString("base64") };
    this.#policies.set(path, kept);
    return kept;
  }

  addIdentityPool(name: string): void {
    this.#identityPools.add(name);
  }

  /**
   * What was granted to an account that is gone is kept under another name.
   * Source: cloud.google.com/iam/docs/service-accounts-delete-undelete
   */
  forget(path: string, member: string | undefined): void {
    this.#policies.delete(path);
    if (member === undefined) return;
    for (const [other, policy] of this.#policies) {
      const bindings = (policy.bindings ?? []).map((binding) => ({
        ...binding,
        members: binding.members.map((one) => (one === member ? `deleted:${one}?uid=1` : one)),
      }));
      this.#policies.set(other, { ...policy, bindings });
    }
  }

  /** Source: cloud.google.com/kubernetes-engine/docs/how-to/workload-identity */
  #requireMember(member: string): void {
    if (!memberTypes.test(member)) throw invalid(`The member ${member} is of an unknown type.`);
    const pool = /^serviceAccount:(?<name>[^[]+\.svc\.id\.goog)\[/.exec(member)?.groups?.name;
    if (pool !== undefined && !this.#identityPools.has(pool))
      throw invalid(`Identity Pool does not exist (${pool}). Please check that you specified a valid resource name.`);
    const own = new RegExp(`^serviceAccount:(.+@${this.#project}\\.iam\\.gserviceaccount\\.com)$`).exec(member)?.[1];
    if (own !== undefined && !this.#hasAccount(own)) throw invalid(`Service account ${own} does not exist.`);
  }
}
