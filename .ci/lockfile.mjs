/**
 * Completes package-lock.json with the platform packages that a registry mirror does not carry.
 *
 * npm leaves an optional dependency that it cannot find out of the lockfile, and `npm ci` then refuses the lockfile, on
 * every platform. Run after a change of dependencies: `npm install --package-lock-only && node .ci/lockfile.mjs`.
 */
import { readFileSync, writeFileSync } from "node:fs";

const systems = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "wasi",
  "win32",
  "aix",
];
const processors = ["arm64", "arm", "ia32", "x64", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

const file = "package-lock.json";
const lock = JSON.parse(readFileSync(file, "utf8"));
const { packages } = lock;

/** Whether the resolution that Node would do from `parent` finds the package in the lockfile. */
const found = (parent, name) => {
  for (let at = parent; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === "" || !at.includes("node_modules/")) return false;
    if (!at.includes("/node_modules/")) at = "";
  }
};

const words = (name) => name.split(/[/-]/);
const platform = (name) => ({
  ...(words(name).some((word) => processors.includes(word)) && {
    cpu: words(name).filter((word) => processors.includes(word)),
  }),
  ...(words(name).some((word) => word.startsWith("musl")) && { libc: ["musl"] }),
  ...(words(name).some((word) => word.startsWith("gnu")) && words(name).includes("linux") && { libc: ["glibc"] }),
  os: words(name).filter((word) => systems.includes(word)),
});

for (const [parent, entry] of Object.entries({ ...packages }))
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (found(parent, name)) continue;
    const traits = platform(name);
    if (traits.os.length === 0) throw new Error(`${name} of ${parent} is missing and names no platform`);
    packages[`node_modules/${name}`] = {
      version: range.replace(/^[^\d]*/, ""),
      ...(traits.cpu && { cpu: traits.cpu }),
      ...(entry.dev && { dev: true }),
      ...(traits.libc && { libc: traits.libc }),
      optional: true,
      os: traits.os,
    };
  }

// npm nests links to a folder that it adds to a lockfile, and `npm ci` looks for them in the top folder.
for (const [path, entry] of Object.entries({ ...packages })) {
  const top = path.slice(path.lastIndexOf("node_modules/"));
  if (entry.link !== true || path === top) continue;
  packages[top] = entry;
  delete packages[path];
}

lock.packages = Object.fromEntries(Object.entries(packages).sort(([left], [right]) => (left < right ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
