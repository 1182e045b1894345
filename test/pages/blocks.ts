/**
 * What a reader does with a page, in order. The prose before a fence says what a file is, a comment before it what cannot run:
 *
 * - "Save this as `first.py`:", and "Save this as `first.py` and run `python3 first.py`:" make a file, and run it;
 * - `<!-- not run: reason -->` keeps a block from running here;
 * - `<!-- stays, after "text" -->` is a program that goes on after it printed the text: what follows is a second terminal;
 * - a block that is neither shell nor a file is what the block before it prints, with … for anything.
 */
export type Step = { readonly line: number } & (
  | { readonly kind: "run"; readonly code: string; readonly stays?: string }
  | { readonly kind: "save"; readonly path: string; readonly text: string; readonly run?: string }
  | { readonly kind: "printed"; readonly text: string }
  | { readonly kind: "not run"; readonly code: string; readonly reason: string }
  | { readonly kind: "fault"; readonly fault: string }
);

const fence = /^(?<indent> *)```(?<language>\w*)\n(?<code>.*?)^ *```$/gms;

/** The comment right before a fence, and the paragraph before that. */
const surroundings = (before: string): { comment: string; paragraph: string } => {
  const [, prose = "", comment = ""] = /^(.*?)(?:<!-- ((?:(?!-->).)*) -->\s*)?$/s.exec(before.trimEnd()) ?? [];
  return {
    comment: comment.replaceAll(/\s+/g, " "),
    paragraph:
      prose
        .trimEnd()
        .split(/\n\s*\n/)
        .at(-1) ?? "",
  };
};

export const stepsOf = (page: string): readonly Step[] => {
  const steps: Step[] = [];
  let end = 0;
  for (const match of page.matchAll(fence)) {
    const { indent = "", language = "", code: indented = "" } = match.groups ?? {};
    const before = page.slice(end, match.index);
    end = match.index + match[0].length;
    if (language === "mermaid") continue;
    const code = indented.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const line = page.slice(0, match.index).split("\n").length;
    const { comment, paragraph } = surroundings(before);
    const [, reason] = /^not run: (.+)$/.exec(comment) ?? [];
    const [, stays] = /^stays, after "(.+)"$/.exec(comment) ?? [];
    const [, path, run] =
      /\b[Ss]ave this as\s+`([^`]+)`(?:[^:]*?\band\s+run\s+`([^`]+)`)?[^:]*:$/.exec(paragraph) ?? [];
    const ran = steps.at(-1);
    if (reason !== undefined) steps.push({ kind: "not run", line, code, reason });
    else if (path !== undefined)
      steps.push({ kind: "save", line, path, text: code, ...(run === undefined ? {} : { run }) });
    else if (language === "sh") steps.push({ kind: "run", line, code, ...(stays === undefined ? {} : { stays }) });
    else if (ran?.kind === "run" || ran?.kind === "not run" || (ran?.kind === "save" && ran.run !== undefined))
      steps.push({ kind: "printed", line, text: code });
    else
      steps.push({
        kind: "fault",
        line,
        fault: "it is no command, no output of one, and no file: say so in the text before it",
      });
  }
  return steps;
};

/** Whether the output has the text of the page, with anything in place of each … and of white space. */
export const prints = (output: string, text: string): boolean => {
  const packed = output.replaceAll(/\s/g, "");
  let at = 0;
  return text
    .replaceAll(/\s/g, "")
    .split("…")
    .every((part) => {
      const found = packed.indexOf(part, at);
      at = found + part.length;
      return found !== -1;
    });
};

/** The commands of a block: those that continue on the next line are one. */
export const commandsOf = (code: string): readonly string[] =>
  code
    .replaceAll(/\\\n\s*/g, " ")
    .replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll("\n", " "))
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");

/** The part of a page from a heading of the second level to the next heading of any level. */
export const sectionOf = (page: string, heading: string): string =>
  page.split(`\n## ${heading}\n`)[1]?.split(/\n#{2,} /)[0] ?? "";

/** The commands that a reader types for a part of a page, and those of them that open an editor. */
export const countOf = (part: string): { readonly commands: number; readonly edits: number } => {
  const commands = stepsOf(part).flatMap((step) =>
    step.kind === "run" || step.kind === "not run" ? commandsOf(step.code) : [],
  );
  return { commands: commands.length, edits: commands.filter((command) => command.startsWith("$EDITOR")).length };
};

/** A block whose every command only sets something, in the shell or in a stack's file, or writes to a file, prints nothing. */
export const isSilent = (code: string): boolean =>
  commandsOf(code).every((line) => /^(export |cd |\w+=|npx pulumi config )|(?<![<>])>|\s-o /.test(line));
