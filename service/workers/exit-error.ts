/**
 * What a native engine prints when it ends quotes the query that it ran, so nothing of it is ever kept or logged but
 * what these patterns take out: a kind of failure, a place in the engine's source, a number of bytes.
 */
const patterns: readonly { readonly pattern: RegExp; readonly say: (found: string) => string }[] = [
  { pattern: /has overflowed its stack/, say: () => "a native thread overflowed its stack" },
  { pattern: /memory allocation of (\d{1,20}) bytes failed/, say: (bytes) => `an allocation of ${bytes} bytes failed` },
  { pattern: /capacity overflow/, say: () => "an allocation larger than any memory" },
  { pattern: /JavaScript heap out of memory/, say: () => "the JavaScript heap was full" },
  {
    pattern: /panicked at (?:[^\s:]*\/)?([\w.-]{1,64}\/src\/[\w/-]{1,96}\.rs:\d{1,6})/,
    say: (place) => `a panic at ${place}`,
  },
];

/** Characters kept between two chunks, so that a line that is cut in two is still found. */
const overlap = 512;

/** Reads a worker's standard error and keeps the last thing that it recognizes. */
export class LastWords {
  #tail = "";
  #found: string | undefined;

  get found(): string | undefined {
    return this.#found;
  }

  read(chunk: string): void {
    const text = this.#tail + chunk;
    for (const { pattern, say } of patterns) {
      const match = pattern.exec(text);
      if (match !== null) this.#found = say(match[1] ?? "");
    }
    this.#tail = text.slice(-overlap);
  }
}
