import { PAGE_BYTES_MAX } from "@parley/shared/db/bounded-page";
import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import { expectedBytes } from "@parley/shared/shares/expected-bytes";
import { type LoopTurns, loopTurns } from "@parley/shared/shares/loop-shares";
import { charactersOf } from "@parley/shared/text/length";
import { jsonSlices } from "./json-slices.ts";

/** Bounds the memory for responses, which they hold until their clients have received them or disconnected. */
export interface Answers {
  /**
   * Reserves memory for a response before the service is called: as much as the owner's recent responses needed.
   * @param bytesMax the largest possible response
   * @throws ServiceError rate_limited when the owner has no memory left for five seconds, cancelled when `gone` fires
   */
  reserve(ownerId: string, bytesMax: number, gone: AbortSignal): Promise<Reservation>;
  /**
   * Makes a Response with the JSON of `body`, or `body` itself if it is a string; it takes over the reservation.
   * @throws ServiceError rate_limited when a large response without a reservation finds no memory; cancelled
   */
  json(body: object | string, to: AnswerTo): Promise<Response>;
}

export interface Reservation {
  /**
   * Changes the reservation to what a service's response of this size needs.
   * @returns false when there is no room for it now: the response is dropped
   */
  received(bytes: number): boolean;
  /** Whether the response is large. */
  readonly isLarge: boolean;
  /**
   * Waits for the room that a dropped response needs, so that it can be asked for again.
   * @returns false when none was dropped
   * @throws as `reserve` does
   */
  enlarge(): Promise<boolean>;
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
/** Reserved for a response unless the owner's are large. */
const USUAL_BYTES = 256 * 1024;
/** Bytes in memory. */
const BYTES_PER_CHARACTER = 2;
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

/** @param turns in which long responses are serialized */
export function createAnswers(turns: LoopTurns = loopTurns()): Answers {
  const reserved = byteShares(RESERVED);
  const unreserved = byteShares(UNRESERVED);
  const expected = expectedBytes(USUAL_BYTES);
  const stream = (chunks: Iterator<Uint8Array>, hold: Pick<Hold, "release">, { ownerId, headers, gone }: AnswerTo) =>
    new Response(
      streamed(chunks, hold, () => turns.next(ownerId), gone()),
      { headers },
    );
  const send = async (text: string, to: AnswerTo) => {
    if (text.length <= SMALL_BYTES) return new Response(text, { headers: to.headers });
    const hold = await unreserved.hold(to.ownerId, text.length, to.gone());
    return stream(chunksOf(Buffer.from(text)), hold, to);
  };
  return {
    async reserve(ownerId, bytesMax, gone) {
      const most = bytesMax * BYTES_PER_RECEIVED;
      let hold = await reserved.hold(ownerId, Math.min(expected.of(ownerId), most), gone);
      let isLarge = false;
      let isReleased = false;
      /** Bytes that a dropped response needs. */
      let wanted = 0;
      return {
        received: (bytes) => {
          const needed = bytes * BYTES_PER_RECEIVED;
          isLarge ||= bytes > SMALL_BYTES;
          expected.saw(ownerId, needed);
          if (needed > hold.bytes && !hold.grow(needed - hold.bytes)) {
            wanted = needed;
            return false;
          }
          hold.shrink(needed);
          return true;
        },
        get isLarge() {
          return isLarge;
        },
        enlarge: async () => {
          if (wanted === 0) return false;
          hold.release();
          hold = await reserved.hold(ownerId, wanted, gone);
          if (isReleased) hold.release();
          wanted = 0;
          return true;
        },
        release: () => {
          isReleased = true;
          hold.release();
        },
      };
    },
    async json(body, to) {
      const { ownerId, headers, gone, reservation } = to;
      headers.set("Content-Type", "application/json; charset=utf-8");
      if (typeof body === "string") return send(body, to);
      if (reservation?.isLarge) return stream(encoded(jsonSlices(body)), reservation, to);
      reservation?.release();
      const characters = charactersOf(body, Number.POSITIVE_INFINITY);
      if (characters > SMALL_BYTES) {
        const hold = await unreserved.hold(ownerId, characters * BYTES_PER_CHARACTER, gone());
        return stream(encoded(jsonSlices(body)), hold, to);
      }
      return send(JSON.stringify(body), to);
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
 * @param turn is awaited before each chunk is made
 */
function streamed(
  chunks: Iterator<Uint8Array>,
  hold: Pick<Hold, "release">,
  turn: () => Promise<void>,
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
      await turn();
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
