import type { ConversationEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "@parley/shared/errors";

/** Bytes of payloads that the process is storing at a time: four of the relay's calls. */
const ACCEPTING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Stores the events of a request unless too many bytes are being stored: then the request is let go of, and the relay, which has them
 * all, gives them again. A request that is alone may be of any size.
 * @throws ServiceError unavailable
 */
export type AcceptWithin = <T>(events: readonly ConversationEvent[], store: () => Promise<T>) => Promise<T>;

export function boundedAcceptance(bytesMax = ACCEPTING_BYTES_MAX): AcceptWithin {
  let held = 0;
  return async (events, store) => {
    const bytes = events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    if (held > 0 && held + bytes > bytesMax) {
      throw new ServiceError("unavailable", "Too many events are being stored, try again", { retryAfterMs: 1_000 });
    }
    held += bytes;
    try {
      return await store();
    } finally {
      held -= bytes;
    }
  };
}
