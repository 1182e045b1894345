import type { ByteStream } from "../operations/operation.ts";
import { currentCall } from "../operations/shared/current-call.ts";
import { type ApiRequest, takenWithinMs } from "./api-request.ts";
import type { Reservation } from "./byte-budget.ts";

/** What a stream needs of its request. */
interface Streamed {
  readonly caller: string;
  readonly request: ApiRequest;
  readonly reservation: Reservation;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Sends a stream as fast as the client takes it, and no slower than the pace of every response. Its memory is reserved until
 * the connection has ended.
 */
export const sendStream = (
  content: ByteStream,
  { caller, request, reservation, onFailure }: Streamed,
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const chunks = content.read(reservation.spare);
  let late: NodeJS.Timeout | undefined;
  request.whenClosed(() => {
    clearTimeout(late);
    reservation.release();
  });
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        clearTimeout(late);
        try {
          // Callers take turns also at the parts of their streams.
          const { done, value } = await currentCall.run({ caller }, () => chunks.next());
          if (done === true) {
            controller.close();
            return;
          }
          controller.enqueue(value as Uint8Array<ArrayBuffer>);
          late = setTimeout(() => request.disconnect(), takenWithinMs(value.byteLength));
        } catch (error) {
          onFailure(error);
          controller.error(error);
        }
      },
      async cancel() {
        clearTimeout(late);
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
};
