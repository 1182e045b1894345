/** The last line that a failed command wrote to its standard error, or else the error's message. */
export const lastLine = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).split("\n").at(-1) ?? "";
};
