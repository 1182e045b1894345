import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { MissingPart } from "../control-plane/go.ts";

/** Folder of Debian's CNI plug-ins. */
export const cniFolder = "/usr/lib/cni";

/** Programs of a real node, each with the Debian package that has it. */
const programs: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  [join(cniFolder, "ptp")]: "containernetworking-plugins",
  nft: "nftables",
  iptables: "iptables",
  ipset: "ipset",
  conntrack: "conntrack",
  ip: "iproute2",
  mmdebstrap: "mmdebstrap",
  unshare: "util-linux",
  setpriv: "util-linux",
  kubectl: "kubernetes-client",
  openssl: "openssl",
};

const exists = async (program: string): Promise<boolean> => {
  // Not every user's search path has the administrator's folders.
  const folders = program.startsWith("/") ? [""] : [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  for (const folder of folders)
    if (
      await access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return true;
  return false;
};

/** @throws MissingPart that names the packages of every program that this machine lacks */
export async function requirePrograms(): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) throw new MissingPart("root on Linux");
  const missing = new Set<string>();
  for (const [program, owner] of Object.entries(programs)) if (!(await exists(program))) missing.add(owner);
  if (missing.size > 0) {
    const names = [...missing].join(" ");
    throw new MissingPart(`this machine lacks ${names}: apt-get install --no-install-recommends ${names}`);
  }
}
