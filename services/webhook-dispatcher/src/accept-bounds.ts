import type { OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "@parley/shared/errors";

/** Limit for the payload bytes being stored at a time: sixteen of the relay's largest calls. */
const ACCEPTING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Stores a request's events unless too many bytes are being stored already. The relay keeps refused events and retries.
 * A lone request may have any size.
 * @throws ServiceError unavailable
 */
export type AcceptWithin = <T>(events: readonly OwnerEvent[], store: () => Promise<T>) => Promise<T>;

export function boundedAcceptance(bytesMax = ACCEPTING_BYTES_MAX): AcceptWithin {
  let held = 0;
  return async (events, store) => {
    const bytes = events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    if (held > 0 && held + bytes > bytesMax) {
      throw new ServiceError("unavailable", "Too many events are being stored. Try again.", { retryAfterMs: 1_000 });
    }
    held += bytes;
    try {
      return await store();
    } finally {
      held -= bytes;
    }
  };
}
