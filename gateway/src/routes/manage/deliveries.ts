import { DELIVERY_STATUSES, numberOf } from "@parley/shared/domain/api-names";
import { presentDelivery, presentSentDelivery } from "@parley/shared/domain/present/webhook";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { Delivery, DeliveryList, ListDeliveriesQuery, SentDelivery } from "../../schemas/manage/deliveries.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function deliveryRoutes(gate: GateContext, { webhooks }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/deliveries" })
    .get(
      "/",
      ...route(
        {
          id: "listDeliveries",
          summary: "List webhook deliveries with their attempts, newest first",
          query: ListDeliveriesQuery,
          isList: true,
          response: DeliveryList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { deliveries, total } = await webhooks.listDeliveries(
            {
              ownerId,
              page,
              destinationId: query.destination_id ?? "",
              conversationId: query.conversation_id ?? "",
              status: numberOf(DELIVERY_STATUSES, query.status),
              event: query.event,
            },
            { origin },
          );
          return { deliveries: deliveries.map(presentDelivery), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:delivery_id",
      ...route(
        {
          id: "getDelivery",
          summary: "Get a webhook delivery with what was sent",
          response: SentDelivery,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { delivery } = await webhooks.getDelivery(
            { ownerId, deliveryId: params.delivery_id ?? "" },
            { origin },
          );
          return presentSentDelivery(required(delivery));
        },
      ),
    )
    .post(
      "/:delivery_id/resend",
      ...route(
        {
          id: "resendDelivery",
          summary: "Send a delivery again",
          description:
            "Makes the attempts of its destination's schedule again for a delivery that has ended, even if it was delivered.",
          response: Delivery,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { delivery } = await webhooks.resendDelivery(
            { ownerId, deliveryId: params.delivery_id ?? "" },
            { origin },
          );
          return presentDelivery(required(delivery));
        },
      ),
    );
}
