import { notFound } from "@parley/shared/errors";
import type { DispatcherContext, Handler } from "../context.ts";
import { toDelivery } from "../convert.ts";
import { checkDeliveryId } from "../rules.ts";
import { findDelivery } from "../store/list-deliveries.ts";

export function getDelivery({ db }: DispatcherContext): Handler<"getDelivery"> {
  return async ({ ownerId, deliveryId }) => {
    checkDeliveryId(deliveryId);
    const row = await findDelivery(db, { ownerId, deliveryId });
    if (!row) throw notFound("Delivery");
    return { delivery: toDelivery(row) };
  };
}
