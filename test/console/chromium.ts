import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian's name first. */
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Path of the system's Chromium, or undefined. */
export const findChromium = (): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .concat("/usr/bin")
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isExecutable);
