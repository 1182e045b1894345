/** A running container of the image, or its replacement without a container engine. */
export interface Container {
  /** Base addresses of the two ports, on this machine. */
  readonly api: string;
  readonly operations: string;
  /** Runs a program beside the service: as its user, in its files, with its environment. */
  run(command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  /** User id of the service's process. */
  user(): Promise<number>;
  /** Paths outside the volume that were written since it started. */
  written(): Promise<readonly string[]>;
  log(): Promise<string>;
  /** SIGTERM. @returns the exit code. */
  stop(): Promise<number>;
  /** Removes it in any state. */
  remove(): Promise<void>;
}

/** The image, built. */
export interface Image {
  /** How it was built and runs, as text. */
  readonly kind: string;
  /** Its size, as text. */
  readonly size: string;
  /**
   * Starts the image's own command on a read-only root file system.
   * @param data directory of this machine, mounted as a volume that the database is on.
   * @param environment beside what the image sets.
   */
  start(data: string, environment: Readonly<Record<string, string>>): Promise<Container>;
  remove(): Promise<void>;
}

/** Where the volume is mounted. */
export const databasePath = "/data";
