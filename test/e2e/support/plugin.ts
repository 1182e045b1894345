/** What every plugin of the engine has in common: a gRPC server on the loopback whose port is the first line it prints. */

import {
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";

/** A gRPC server that takes messages as large as a custom resource definition of Ray's many times over. */
export const pluginServer = (): Server => {
  const limit = 400 * 2 ** 20;
  return new Server({ "grpc.max_receive_message_length": limit, "grpc.max_send_message_length": limit });
};

/** A failure with a gRPC status of its own. */
export class RpcError extends Error {
  readonly code: status;
  /** Value of the `grpc-status-details-bin` trailer, in which the engine finds a typed error. */
  readonly typed: Uint8Array | undefined;

  constructor(code: status, message: string, typed?: Uint8Array) {
    super(message);
    this.code = code;
    this.typed = typed;
  }
}

/** Turns an asynchronous function into a gRPC handler whose failures reach the engine as text. */
export function unary<Request, Reply>(
  respond: (request: Request) => Reply | Promise<Reply>,
): handleUnaryCall<Request, Reply> {
  return (call: ServerUnaryCall<Request, Reply>, done: sendUnaryData<Reply>) => {
    Promise.resolve()
      .then(() => respond(call.request))
      .then(
        (reply) => done(null, reply),
        (error: unknown) => {
          const metadata = new Metadata();
          if (error instanceof RpcError && error.typed !== undefined)
            metadata.set("grpc-status-details-bin", Buffer.from(error.typed));
          done({
            code: error instanceof RpcError ? error.code : status.UNKNOWN,
            details: error instanceof Error ? error.message : String(error),
            metadata,
          });
        },
      );
  };
}

/** Listens on a free port and tells the engine which one; ends when the engine does. */
export async function servePlugin(server: Server): Promise<void> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  process.stdout.write(`${port}\n`);
  const engine = process.ppid;
  setInterval(() => {
    // A killed engine does not notify its plugins.
    if (process.ppid !== engine) process.exit(0);
  }, 2000).unref();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      server.forceShutdown();
      process.exit(0);
    });
}
