import { setImmediate } from "node:timers/promises";
import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/byte-shares";
import { PAGE_BYTES_MAX } from "@parley/shared/db/bounded-page";
import { jsonSlices } from "./json-slices.ts";

/** Bounds the memory for responses, which they hold until their clients have received them or disconnected. */
export interface Answers {
  /**
   * Reserves memory for a response before the service is called.
   * @param bytesMax the largest possible response
   * @throws ServiceError rate_limited when the owner has no memory left for five seconds, cancelled when `gone` fires
   */
  reserve(ownerId: string, bytesMax: number, gone: AbortSignal): Promise<Reservation>;
  /**
   * Makes a Response with the JSON of `body`, which takes over the reservation.
   * @throws ServiceError rate_limited when a large response without a reservation finds no memory; cancelled
   */
  json(body: object, to: AnswerTo): Promise<Response>;
}

export interface Reservation {
  /** Reduces the reservation to what a service's response of this size needs. */
  received(bytes: number): void;
  /** Whether the response is large. */
  readonly isLarge: boolean;
  /** Releases the rest of the reservation. */
  release(): void;
}

export interface AnswerTo {
  ownerId: string;
  headers: Headers;
  gone: () => AbortSignal;
  reservation: Reservation | null;
}

/** Smaller responses go to the runtime in one piece, without a reservation. */
const SMALL_BYTES = 64 * 1024;
/** A service's message exists here as objects, and then as slices of JSON. */
const BYTES_PER_RECEIVED = 2;
const WAIT_MS = 5_000;

const RESERVED: ByteShareSettings = {
  what: "reads",
  totalBytes: 12 * PAGE_BYTES_MAX,
  ownerBytes: 4 * PAGE_BYTES_MAX,
  waitingMax: 1_000,
  waitMs: WAIT_MS,
};
const UNRESERVED: ByteShareSettings = {
  what: "long answers",
  totalBytes: 4 * PAGE_BYTES_MAX,
  ownerBytes: PAGE_BYTES_MAX,
  // Waiting responses use memory too.
  waitingMax: 50,
  waitMs: WAIT_MS,
};

export function createAnswers(): Answers {
  const reserved = byteShares(RESERVED);
  const unreserved = byteShares(UNRESERVED);
  return {
    async reserve(ownerId, bytesMax, gone) {
      const hold = await reserved.hold(ownerId, bytesMax, gone);
      let isLarge = false;
      return {
        received: (bytes) => {
          isLarge ||= bytes > SMALL_BYTES;
          hold.shrink(bytes * BYTES_PER_RECEIVED);
        },
        get isLarge() {
          return isLarge;
        },
        release: hold.release,
      };
    },
    async json(body, { ownerId, headers, gone, reservation }) {
      headers.set("Content-Type", "application/json; charset=utf-8");
      if (reservation?.isLarge) {
        return new Response(streamed(encoded(jsonSlices(body)), reservation, gone()), { headers });
      }
      const text = JSON.stringify(body);
      reservation?.release();
      if (text.length <= SMALL_BYTES) return new Response(text, { headers });
      const hold = await unreserved.hold(ownerId, text.length, gone());
      return new Response(streamed(chunksOf(Buffer.from(text)), hold, gone()), { headers });
    },
  };
}

function* encoded(slices: Iterable<string>): Generator<Uint8Array> {
  for (const slice of slices) yield Buffer.from(slice);
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += SMALL_BYTES) yield bytes.subarray(from, from + SMALL_BYTES);
}

/**
 * A body that is produced as fast as its client reads it. The server's idle timeout disconnects a client that stops
 * reading.
 * @param hold released when the body is sent or the client has gone
 */
function streamed(
  chunks: Iterator<Uint8Array>,
  hold: Pick<Hold, "release">,
  gone: AbortSignal,
): ReadableStream<Uint8Array> {
  const release = () => {
    gone.removeEventListener("abort", release);
    hold.release();
  };
  gone.addEventListener("abort", release);
  if (gone.aborted) release();
  return new ReadableStream({
    async pull(body) {
      // Lets other requests run between slices.
      await setImmediate();
      try {
        const { done, value } = chunks.next();
        if (!done) return body.enqueue(value);
        release();
        body.close();
      } catch (error) {
        release();
        throw error;
      }
    },
    cancel: release,
  });
}
