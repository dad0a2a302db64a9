import { isId, isUuid } from "@parley/shared/ids";
import { pageOf } from "@parley/shared/page";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromDeliveryStatus, toDelivery } from "../convert.ts";
import { checkEvent } from "../rules.ts";
import { listDeliveryRows } from "../store/list-deliveries.ts";

/** Newest first. */
export function listDeliveries({ db }: DispatcherContext): Handler<"listDeliveries"> {
  return async ({ ownerId, page, destinationId, conversationId, status, event }) => {
    const wanted = pageOf(page);
    const filter = {
      ownerId,
      destinationId: destinationId || null,
      conversationId: conversationId || null,
      status: fromDeliveryStatus(status),
      event: event === undefined ? null : checkEvent("event", event),
    };
    // A malformed id matches nothing, and the database may reject it.
    const namesNothing =
      (filter.destinationId !== null && !isId("whd", filter.destinationId)) ||
      (filter.conversationId !== null && !isUuid(filter.conversationId));
    if (namesNothing) return { deliveries: [], total: 0 };
    const { rows, total } = await listDeliveryRows(db, filter, wanted);
    return { deliveries: rows.map(toDelivery), total };
  };
}
