/**
 * Prints the page's scripts as JSON: each file's name and text. A program of its own, because the bundler would keep
 * 170 MB of the service's memory.
 */
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

export interface Script {
  readonly name: string;
  readonly code: string;
}

if (import.meta.main) {
  const bundle = await rolldown({
    input: { main: fileURLToPath(new URL("page/main.ts", import.meta.url)) },
    platform: "browser",
  });
  const { output } = await bundle.generate({
    format: "es",
    minify: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
  });
  const scripts = output.flatMap((file): Script[] =>
    file.type === "chunk" ? [{ name: file.fileName, code: file.code }] : [],
  );
  process.stdout.write(JSON.stringify(scripts));
}
