import { type BigIntStats, stat, statSync } from "node:fs";
import { statfs } from "node:fs/promises";

/** Differs after every change of a file, or of the entries of a directory; undefined if there is none. */
export type Stamp = string | undefined;

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

export const readStamp = (path: string): Promise<Stamp> =>
  new Promise((resolve, reject) => {
    stat(path, { bigint: true }, (error, stats) => {
      if (error === null) resolve(stampOf(stats));
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(error);
    });
  });

const statAtOnce = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });

export const readStampAtOnce = (path: string): Stamp => {
  const stats = statAtOnce(path);
  return stats && stampOf(stats);
};

/** Differs from that of another directory at the same path, whatever changes inside; undefined if there is none. */
export const identityAtOnce = (path: string): string | undefined => {
  const stats = statAtOnce(path);
  return stats && `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
};

/**
 * Types, as `statfs` returns them, of file systems that no network is behind: ext, XFS, Btrfs, ZFS, tmpfs, overlay. The kernel
 * has the times of a path that was read a moment ago in memory, and no other machine changes it.
 */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994, 0x794c7630]);

export const isLocal = (path: string): Promise<boolean> =>
  statfs(path).then(
    ({ type }) => localTypes.has(type),
    () => false,
  );
