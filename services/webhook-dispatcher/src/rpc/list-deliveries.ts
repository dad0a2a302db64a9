import { PAGE_BYTES_MAX, type Room } from "@parley/shared/db/bounded-page";
import { isId, isUuid } from "@parley/shared/ids";
import { pageOf } from "@parley/shared/page";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromDeliveryStatus, toDelivery } from "../convert.ts";
import { listDeliveryRows } from "../store/list-deliveries.ts";

/** Newest first. */
export function listDeliveries({ db, boundedRead }: DispatcherContext): Handler<"listDeliveries"> {
  return async ({ ownerId, page, destinationId, conversationId, status }, call) => {
    const wanted = pageOf(page);
    const filter = {
      ownerId,
      destinationId: destinationId || null,
      conversationId: conversationId || null,
      status: fromDeliveryStatus(status),
    };
    // A malformed id matches nothing, and the database may reject it.
    const namesNothing =
      (filter.destinationId !== null && !isId("whd", filter.destinationId)) ||
      (filter.conversationId !== null && !isUuid(filter.conversationId));
    if (namesNothing) return { deliveries: [], total: 0 };
    const list = (room: Room) => listDeliveryRows(db, filter, wanted, room);
    const { rows, total } = await boundedRead(ownerId, PAGE_BYTES_MAX, call, list);
    return { deliveries: rows.map(toDelivery), total };
  };
}
