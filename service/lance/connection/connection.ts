import { type Connection, connect, Session, type Table } from "@lancedb/lancedb";
import { hasScheme } from "./location.ts";

export interface DatabaseAddress {
  /** A local directory, `s3://bucket/prefix` or `gs://bucket/prefix`. */
  readonly uri: string;
  /** The SDK's storage options; from configuration only, never from a request. */
  readonly storageOptions: Readonly<Record<string, string>>;
}

export interface CacheSizes {
  readonly indexBytes: number;
  readonly metadataBytes: number;
}

/** Seconds after which a handle checks the store for newer versions; undefined: never. */
type CheckInterval = number | undefined;

/**
 * The connection and session of the process. Connecting reads the root's namespace manifest, so it fails while the store
 * is unavailable. Then the next call retries, and concurrent calls share an attempt.
 */
export class LazyConnection {
  readonly #address: DatabaseAddress;
  readonly #interval: CheckInterval;
  readonly #session: Session;
  #connection: Promise<Connection> | undefined;

  constructor(address: DatabaseAddress, sizes: CacheSizes, interval: CheckInterval) {
    this.#address = address;
    this.#interval = interval;
    this.#session = new Session(BigInt(sizes.indexBytes), BigInt(sizes.metadataBytes));
  }

  /** The directory of the database; undefined if it is in a bucket. */
  get localPath(): string | undefined {
    return hasScheme(this.#address.uri) ? undefined : this.#address.uri;
  }

  get address(): DatabaseAddress {
    return this.#address;
  }

  get storageOptions(): Record<string, string> {
    return { ...this.#address.storageOptions };
  }

  get(): Promise<Connection> {
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  /** Connects; if already connected, opens a second connection and closes it, to send the same requests. */
  async check(): Promise<void> {
    if (this.#connection === undefined) await this.get();
    else (await this.#connect()).close();
  }

  async openTable(name: string, namespace: readonly string[]): Promise<Table> {
    const connection = await this.get();
    // The SDK ignores the connection's storage options for a table in a namespace.
    return connection.openTable(name, [...namespace], { storageOptions: this.storageOptions });
  }

  #connect(): Promise<Connection> {
    return connect(this.#address.uri, {
      storageOptions: this.storageOptions,
      // Not as the third argument, which the SDK ignores: then its caches take up to 7 GiB.
      session: this.#session,
      ...(this.#interval === undefined ? {} : { readConsistencyInterval: this.#interval }),
    });
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }
}
