import { PAGE_BYTES_MAX, type Room } from "@parley/shared/db/bounded-page";
import { notFound } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { toDelivery } from "../convert.ts";
import { checkDeliveryId } from "../rules.ts";
import { findDelivery } from "../store/list-deliveries.ts";

export function getDelivery({ db, boundedRead }: DispatcherContext): Handler<"getDelivery"> {
  return async ({ ownerId, deliveryId }, call) => {
    checkDeliveryId(deliveryId);
    const find = (room: Room) => findDelivery(db, { ownerId, deliveryId }, room);
    const row = await boundedRead(ownerId, PAGE_BYTES_MAX, call, find);
    if (!row) throw notFound("Delivery");
    return { delivery: toDelivery(row) };
  };
}
