import { invalid } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { countDeliveries as countRows } from "../store/list-deliveries.ts";

/** A delivery that waits to be repeated counts as failed: its last attempt may be a day away. */
export function countDeliveries({ db }: DispatcherContext): Handler<"countDeliveries"> {
  return async ({ ownerId, since }) => {
    if (!since) throw invalid("since", "since is required");
    return countRows(db, ownerId, since);
  };
}
