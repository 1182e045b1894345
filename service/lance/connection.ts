import { type Connection, connect, Session, type Table } from "@lancedb/lancedb";

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

/** Seconds after which a handle asks the store for newer versions; undefined never asks by itself. */
type CheckInterval = number | undefined;

/**
 * One connection and one session for the process and the storage root. Connecting reads the root's namespace manifest,
 * so it can fail while the store is away: it is tried again at the next call, and calls at the same time share the try.
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

  get(): Promise<Connection> {
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  /** Reads what connecting reads: connects, or where that has happened once more beside the connection. */
  async reach(): Promise<void> {
    if (this.#connection === undefined) await this.get();
    else (await this.#connect()).close();
  }

  async openTable(name: string, namespace: readonly string[]): Promise<Table> {
    const connection = await this.get();
    // The SDK forgets the connection's storage options for a table in a namespace, and asks the cloud without them.
    return connection.openTable(name, [...namespace], { storageOptions: { ...this.#address.storageOptions } });
  }

  #connect(): Promise<Connection> {
    return connect(
      this.#address.uri,
      {
        storageOptions: { ...this.#address.storageOptions },
        ...(this.#interval === undefined ? {} : { readConsistencyInterval: this.#interval }),
      },
      this.#session,
    );
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }
}
