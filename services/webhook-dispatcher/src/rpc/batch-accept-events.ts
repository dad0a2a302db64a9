import type { OwnerEvent } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Accept } from "../accept.ts";
import type { AcceptWithin } from "../accept-bounds.ts";
import type { Handler } from "../context.ts";
import { readEvent } from "../rules.ts";
import type { EventRow } from "../store/events.ts";

/** An invalid event does not block the others. */
export function batchAcceptEvents(accept: Accept, within: AcceptWithin): Handler<"batchAcceptEvents"> {
  return ({ events }) =>
    within(events, async () => {
      const read = events.map(readOrRefuse);
      await accept(read.filter((event) => typeof event !== "string"));
      return { results: read.map((event) => (typeof event === "string" ? { refusal: event } : {})) };
    });
}

function readOrRefuse(given: OwnerEvent): EventRow | string {
  try {
    return readEvent(given);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "invalid") return error.detail;
    throw error;
  }
}
