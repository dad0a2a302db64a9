import { setImmediate } from "node:timers/promises";
import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/byte-shares";
import { PAGE_BYTES_MAX } from "@parley/shared/db/bounded-page";
import { jsonSlices } from "./json-slices.ts";

/** Room in this process for what is answered to owners, kept until their clients have taken it or are gone. */
export interface Answers {
  /**
   * Keeps room for an answer before it is asked for.
   * @param bytesMax that it may have
   * @throws ServiceError rate_limited when the owner's room is taken up for five seconds, cancelled when `gone` fires
   */
  reserve(ownerId: string, bytesMax: number, gone: AbortSignal): Promise<Reservation>;
  /**
   * A Response with the JSON of `body`, to which the reservation goes over.
   * @throws ServiceError rate_limited when the answer is large, came without a reservation and finds no room; cancelled
   */
  json(body: object, to: AnswerTo): Promise<Response>;
}

export interface Reservation {
  /** Tells the size of what a service answered, so that no more room is kept than that takes. */
  received(bytes: number): void;
  /** Whether that was much. */
  readonly isLarge: boolean;
  /** Gives back what is left of it. */
  release(): void;
}

export interface AnswerTo {
  ownerId: string;
  headers: Headers;
  gone: () => AbortSignal;
  reservation: Reservation | null;
}

/** What is up to this size is handed to the runtime in one, and no room is kept for it. */
const SMALL_BYTES = 64 * 1024;
/** A service's message is objects here, and then JSON, slice by slice. */
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
  // They are in memory while they wait.
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
 * A body that is read as fast as its client takes it. One that takes nothing is cut off by the server's idle time-out.
 * @param hold released when the body is through or its client is gone
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
      // Other requests have their turn between two slices.
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
