/**
 * The native engine's output quotes the query, which must not be logged. Only what these patterns capture is kept: the
 * kind of error, a position in the engine's source, a number of bytes.
 */
const patterns: readonly { readonly pattern: RegExp; readonly describe: (captured: string) => string }[] = [
  { pattern: /has overflowed its stack/, describe: () => "a native thread overflowed its stack" },
  {
    pattern: /memory allocation of (\d{1,20}) bytes failed/,
    describe: (bytes) => `an allocation of ${bytes} bytes failed`,
  },
  { pattern: /capacity overflow/, describe: () => "an allocation exceeded the address space" },
  { pattern: /JavaScript heap out of memory/, describe: () => "the JavaScript heap was full" },
  {
    pattern: /panicked at (?:[^\s:]*\/)?([\w.-]{1,64}\/src\/[\w/-]{1,96}\.rs:\d{1,6})/,
    describe: (position) => `a panic at ${position}`,
  },
];

/** Characters kept between chunks, to match a line that is split. */
const overlap = 512;

/** Reads a worker's standard error and keeps the last error that it recognizes. */
export class ExitErrorReader {
  #tail = "";
  #error: string | undefined;

  get error(): string | undefined {
    return this.#error;
  }

  read(chunk: string): void {
    const text = this.#tail + chunk;
    for (const { pattern, describe } of patterns) {
      const match = pattern.exec(text);
      if (match !== null) this.#error = describe(match[1] ?? "");
    }
    this.#tail = text.slice(-overlap);
  }
}
