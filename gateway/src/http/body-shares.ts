import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import { createPace, type PaceSettings, type Reserved } from "@parley/shared/shares/pace";

const MIB = 1024 * 1024;
/**
 * Bodies of requests in progress, in bytes as sent: as text, values and a message to a service, each takes several times as much. Few may
 * wait, because what waits arrives too.
 */
const BODIES: ByteShareSettings = {
  what: "large requests",
  totalBytes: 64 * MIB,
  ownerBytes: 16 * MIB,
  waitingMax: 16,
  waitMs: 2_000,
};
/** Bytes of an owner's bodies: a megabyte takes 5 to 25 ms to check, parse and send on, here and in the services behind. */
const PACE: PaceSettings = {
  perSecond: 8 * MIB,
  atOnce: 2 * MIB,
  besideOthers: 2,
  waitMaxMs: 2_000,
  refusal: "This account's large requests are too many, try again",
};
/** Shorter bodies are not counted: their number is limited by connections, and their rate by the key. */
const SMALL_BYTES = 16 * 1024;
/**
 * Bodies of unknown length that an owner may have on their way before further ones count. The runtime keeps up to 1 MiB of each until
 * it is read.
 */
const UNKNOWN: ByteShareSettings = {
  what: "requests of unknown length",
  totalBytes: Number.POSITIVE_INFINITY,
  ownerBytes: 16,
  waitingMax: 0,
};

/** The room for the body of one request. */
export interface BodyRoom {
  /**
   * Settles when there is room for a body of known length, or for one of unknown length while the owner has many; at once for any
   * other.
   * @throws ServiceError rate_limited when the owner has too many long ones in progress, or had too many in the last seconds; cancelled
   *   when the client leaves
   */
  ready: Promise<void>;
  /**
   * Takes room for a body of unknown length once it turns out to be long.
   * @param bytes that have arrived
   * @returns null when there is nothing to wait for
   * @throws ServiceError like `ready`
   */
  arrived(bytes: number): Promise<void> | null;
  /** Gives back what a body of unknown length does not need. @param bytes all of the body's */
  received(bytes: number): void;
  /** Call it when the request has been answered, however that ends. */
  release(): void;
}

/** Bounds the memory and the time for the bodies of requests. */
export interface BodyShares {
  /** @param bytesMax the longest body of the route */
  enter(ownerId: string, request: Request, bytesMax: number): BodyRoom;
}

interface Taken {
  hold: Hold;
  reserved: Reserved;
}

export function createBodyShares({ shares = byteShares(BODIES), pace = createPace(PACE) } = {}): BodyShares {
  /** Each counts as one. */
  const unknown = byteShares(UNKNOWN);

  async function take(ownerId: string, bytes: number, gone: AbortSignal): Promise<Taken> {
    const hold = await shares.hold(ownerId, bytes, gone);
    try {
      const reserved = pace.reserve(ownerId, bytes, gone);
      await reserved.due;
      return { hold, reserved };
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  return {
    enter(ownerId, request, bytesMax) {
      const header = request.headers.get("content-length");
      const length = header === null ? null : Math.min(Number(header), bytesMax);
      let taken: Taken | null = null;
      let taking: Promise<void> | null = null;
      let isReleased = false;
      const begin = (bytes: number) => {
        taking = take(ownerId, bytes, request.signal).then((got) => {
          taken = got;
          if (isReleased) got.hold.release();
        });
        return taking;
      };
      const uncounted = length === null ? unknown.tryHold(ownerId, 1) : null;
      const countedLength = length ?? (uncounted ? 0 : bytesMax);
      return {
        ready: countedLength > SMALL_BYTES ? begin(countedLength) : Promise.resolve(),
        arrived: (bytes) => (length === null && bytes > SMALL_BYTES && !taking ? begin(bytesMax) : null),
        received(bytes) {
          if (length !== null) return;
          uncounted?.release();
          taken?.hold.shrink(bytes);
          taken?.reserved.settle(bytes);
        },
        release() {
          isReleased = true;
          uncounted?.release();
          taken?.hold.release();
        },
      };
    },
  };
}
