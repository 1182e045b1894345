import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";

export interface SecretsKeyArgs {
  readonly project: string;
  readonly region: string;
  readonly protect: boolean;
}

/** A key for Kubernetes secrets, which GKE's own service agent of the project can use. */
export class SecretsKey extends pulumi.ComponentResource {
  /** `projects/…/cryptoKeys/…` */
  readonly keyName: pulumi.Output<string>;

  constructor(name: string, { project, region, protect }: SecretsKeyArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:SecretsKey", name, {}, opts);
    // Without names of their own: Google never deletes a key ring, and a second stack could not take its name.
    const ring = new gcp.kms.KeyRing(name, { project, location: region }, { parent: this });
    const key = new gcp.kms.CryptoKey(
      name,
      { keyRing: ring.id, purpose: "ENCRYPT_DECRYPT", rotationPeriod: `${90 * 24 * 60 * 60}s` },
      { parent: this, protect },
    );
    // Google creates the agent with the project's first cluster, which needs the key before.
    const agent = new gcp.projects.ServiceIdentity(
      `${name}-gke`,
      { project, service: "container.googleapis.com" },
      { parent: this },
    );
    new gcp.kms.CryptoKeyIAMMember(
      `${name}-gke`,
      {
        cryptoKeyId: key.id,
        role: "roles/cloudkms.cryptoKeyEncrypterDecrypter",
        member: pulumi.interpolate`serviceAccount:${agent.email}`,
      },
      { parent: this },
    );
    this.keyName = key.id;
    this.registerOutputs({ keyName: this.keyName });
  }
}
