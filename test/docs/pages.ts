import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

const markdownIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(join(root, folder), { recursive, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name))
    .sort();

/** Paths of all pages of documentation, from the repository's root. */
export const pages: readonly string[] = [
  ...markdownIn(".", false),
  ...markdownIn("docs", true),
  ...[".github", "service", "infra", "tools", "test", "bench"].flatMap((folder) => markdownIn(folder, true)),
];

export const textOf = (page: string): string => readFileSync(join(root, page), "utf8");

/** Text without fenced code, where a line that begins with # is a heading. */
export const proseOf = (page: string): string => textOf(page).replaceAll(/^ *```.*?^ *```/gms, "");

/** What a page shows as code: fenced blocks, and inline code of its prose. */
export const codeOf = (page: string): readonly string[] => [
  ...[...textOf(page).matchAll(/^ *```\w*\n(.*?)^ *```/gms)].map(([, code = ""]) => code),
  ...[...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code),
];

/** As GitHub makes a heading's anchor. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

/** The anchors of a page's headings; of equal headings the second ends in `-1`. */
export const anchorsOf = (page: string): readonly string[] => {
  const seen = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
    const anchor = anchorOf(heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1"));
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
};

/** The targets of a page's links, those to other sites left out. */
export const linksOf = (page: string): readonly string[] => {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, "");
  const inline = [...prose.matchAll(/\]\(([^)\s]+)\)/g)];
  const references = [...prose.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return [...inline, ...references].map(([, target = ""]) => target).filter((target) => !/^https?:/.test(target));
};
