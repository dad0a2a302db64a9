import type { DispatcherContext, Handler } from "../context.ts";
import { toDestination } from "../convert.ts";
import { listDestinationRows } from "../store/destinations.ts";

/** Oldest first. */
export function listDestinations({ db, clock }: DispatcherContext): Handler<"listDestinations"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    const rows = await listDestinationRows(db, ownerId);
    return { destinations: rows.map((row) => toDestination(row, now)) };
  };
}
