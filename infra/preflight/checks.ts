/** The checks before the first `up` that every cloud shares. Pure: the facts are input. */

import { type Line, type Outcome, ok, unknown, wrong } from "../check-line.ts";
import type { ImageFacts } from "../clouds/image-manifest.ts";
import { overlaps, parseCidr } from "../model/cidr.ts";
import type { ClusterModel } from "../model/cluster.ts";
import { roleArchitecture } from "../model/cluster.ts";
import type { Machine } from "../model/machines.ts";
import { type RaySettings, rayGroups } from "../model/ray-groups.ts";
import { systemRole } from "../model/roles.ts";

/** Whether this machine may call the Kubernetes API from the internet. */
export function checkAddress(publicCidrs: readonly string[], address: Outcome<string>): Line {
  if (publicCidrs.length === 0)
    return unknown(
      "address: endpoint.publicCidrs is empty, so that the Kubernetes API is not reachable from the internet",
      "run pulumi up inside the network, or in one that is connected to it",
    );
  if ("failure" in address)
    return unknown(
      `address: your public address is not known (${address.failure})`,
      `compare it with endpoint.publicCidrs ${publicCidrs.join(", ")}, or pass --address <ip>`,
    );
  const own = parseCidr(`${address.value}/32`);
  if (own === undefined)
    return unknown(`address: ${address.value} is no IPv4 address`, "pass your public IPv4 address as --address <ip>");
  const within = publicCidrs.find((text) => {
    const network = parseCidr(text);
    return network !== undefined && overlaps(network, own);
  });
  return within === undefined
    ? wrong(
        `address: ${address.value} is not in endpoint.publicCidrs ${publicCidrs.join(", ")}`,
        `add ${address.value}/32, or run pulumi up from one of these networks`,
      )
    : ok(`address: ${address.value} is in endpoint.publicCidrs (${within})`);
}

export interface RequiredImage {
  readonly image: string;
  /** Who runs it, such as `table service`. */
  readonly use: string;
  readonly architecture: Machine["architecture"];
}

interface ImageConfig {
  readonly ray: RaySettings;
  readonly tableService: { readonly enabled: boolean; readonly image?: string | undefined };
}

/** The images of the table service and of Ray's pods, each once, with the architecture of the nodes that run it. */
export function requiredImages(config: ImageConfig, cluster: ClusterModel): readonly RequiredImage[] {
  const { tableService } = config;
  // The stack makes its cache of Docker Hub, which has what Docker Hub has.
  const { head, workers } = rayGroups(config, { ...cluster, dockerHubCache: undefined });
  const all = [
    ...(tableService.enabled && tableService.image !== undefined
      ? [{ image: tableService.image, use: "table service", role: systemRole } as const]
      : []),
    ...[head, ...workers].map(({ image, role }) => ({ image, use: "Ray", role })),
  ];
  const distinct = new Map(
    all.map(({ image, use, role }) => [image, { image, use, architecture: roleArchitecture(cluster, role) }]),
  );
  return [...distinct.values()];
}

const platforms: Readonly<Record<Machine["architecture"], string>> = { x86_64: "amd64", arm64: "arm64" };

export function checkImage({ image, use, architecture }: RequiredImage, found: Outcome<ImageFacts | undefined>): Line {
  const name = `image of ${use}: ${image}`;
  const platform = platforms[architecture];
  const byHand = `docker buildx imagetools inspect ${image}`;
  if ("failure" in found) return unknown(`${name}: not checked (${found.failure})`, byHand);
  if (found.value === undefined)
    return wrong(
      `${name}: the registry does not have it`,
      use === "Ray"
        ? "correct lakehead:ray.version and lakehead:ray.image"
        : `docker build --platform linux/${platform} -t ${image} . && docker push ${image}`,
    );
  const { architectures } = found.value;
  if (architectures === undefined)
    return unknown(`${name}: it exists; its manifest does not name its architecture`, byHand);
  return architectures.includes(platform)
    ? ok(`${name}: for ${architectures.join(", ")}`)
    : wrong(
        `${name}: for ${architectures.join(", ")}, its nodes are ${platform}`,
        `build it with --platform linux/${platform} and push it`,
      );
}

/** Whether this machine can build the image of the table service, which `pulumi up` does. */
export function checkBuilder(platform: string, platforms: Outcome<readonly string[]>): Line {
  const name = `image of table service: pulumi up builds it for ${platform}`;
  if ("failure" in platforms)
    return wrong(
      `${name}, and Docker does not respond here (${platforms.failure.trim().split("\n").at(-1)})`,
      "start Docker where pulumi up runs, or write an image of your own in lakehead:tableService.image",
    );
  return platforms.value.includes(platform)
    ? ok(name)
    : wrong(
        `${name}, and Docker here builds for ${platforms.value.join(", ")}`,
        `docker run --privileged --rm tonistiigi/binfmt --install ${platform.split("/")[1]}, or run pulumi up on such a machine`,
      );
}

export interface DnsFacts {
  readonly addresses: readonly string[];
  /** The closest parent domain that has name servers; undefined when none has. */
  readonly zone: string | undefined;
}

/** The record can exist only after the first `up`. Its zone must exist before. */
/** @param pointed whether the stack makes the record itself */
export function checkDns(host: string, found: Outcome<DnsFacts>, pointed = false): Line {
  if ("failure" in found) return unknown(`DNS: ${host} is not checked (${found.failure})`, `dig NS ${host}`);
  const { addresses, zone } = found.value;
  if (addresses.length > 0) return ok(`DNS: ${host} resolves to ${addresses.join(", ")}`);
  return zone === undefined
    ? wrong(`DNS: ${host} does not resolve, and no parent domain has name servers`, "create the DNS zone of the host")
    : ok(
        `DNS: the zone ${zone} exists; ${pointed ? `pulumi up points ${host} at the load balancer` : `after the first up, point ${host} at the output tableServiceAddress`}`,
      );
}
