import { numberOf, REQUEST_TYPES, RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";
import { presentDestination } from "@parley/shared/domain/present/webhook";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readDate } from "../../http/date.ts";
import { required } from "../../present/required.ts";
import {
  CreateDestinationBody,
  Destination,
  DestinationList,
  NewDestination,
  NewSecret,
  ResendFailedBody,
  Resent,
  SendTestBody,
  TestSent,
  UpdateDestinationBody,
} from "../../schemas/manage/destinations.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function destinationRoutes(gate: GateContext, { webhooks }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/destinations" })
    .get(
      "/",
      ...route(
        {
          id: "listDestinations",
          summary: "List webhook destinations",
          response: DestinationList,
        },
        async ({ ownerId, origin }) => {
          const { destinations } = await webhooks.listDestinations({ ownerId }, { origin });
          return { destinations: destinations.map(presentDestination) };
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "createDestination",
          summary: "Create a webhook destination; its secret is shown only once",
          body: CreateDestinationBody,
          response: NewDestination,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const { destination, secret } = await webhooks.createDestination(
            {
              ownerId,
              name: body.name,
              url: body.url,
              requestType: REQUEST_TYPES[body.request_type],
              retrySchedule: RETRY_SCHEDULES[body.retry_schedule ?? "standard"],
              enabled: body.status !== "disabled",
              events: body.events ? { names: body.events } : undefined,
            },
            { origin },
          );
          return { ...presentDestination(required(destination)), secret };
        },
      ),
    )
    .patch(
      "/:destination_id",
      ...route(
        {
          id: "updateDestination",
          summary: "Change a webhook destination",
          body: UpdateDestinationBody,
          response: Destination,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const { destination } = await webhooks.updateDestination(
            {
              ownerId,
              destinationId: params.destination_id ?? "",
              name: body.name,
              url: body.url,
              requestType: numberOf(REQUEST_TYPES, body.request_type),
              retrySchedule: body.retry_schedule && RETRY_SCHEDULES[body.retry_schedule],
              enabled: body.status === undefined ? undefined : body.status === "enabled",
              events: body.events && { names: body.events },
            },
            { origin },
          );
          return presentDestination(required(destination));
        },
      ),
    )
    .delete(
      "/:destination_id",
      ...route(
        {
          id: "deleteDestination",
          summary: "Delete a webhook destination",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          await webhooks.deleteDestination({ ownerId, destinationId: params.destination_id ?? "" }, { origin });
          return { message: "Destination deleted" };
        },
      ),
    )
    .post(
      "/:destination_id/rotate-secret",
      ...route(
        {
          id: "rotateSecret",
          summary: "Give a destination a new secret, shown only once",
          description: "The old secret stays valid for 24 hours.",
          response: NewSecret,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const destinationId = params.destination_id ?? "";
          const { secret, oldSecretValidUntil } = await webhooks.rotateSecret({ ownerId, destinationId }, { origin });
          return {
            destination_id: destinationId,
            secret,
            old_secret_valid_until: isoTime(oldSecretValidUntil),
          };
        },
      ),
    )
    .post(
      "/:destination_id/test",
      ...route(
        {
          id: "sendTestEvent",
          summary: "Send a destination a sample event",
          description: "It is sent whether or not the destination gets such events.",
          body: SendTestBody,
          isBodyOptional: true,
          response: TestSent,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const destinationId = params.destination_id ?? "";
          const { deliveryId } = await webhooks.sendTestEvent(
            { ownerId, destinationId, event: body.event ?? undefined },
            { origin },
          );
          return { delivery_id: deliveryId };
        },
      ),
    )
    .post(
      "/:destination_id/resend-failed",
      ...route(
        {
          id: "resendFailedDeliveries",
          summary: "Resend the failed deliveries of a destination",
          body: ResendFailedBody,
          response: Resent,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const { resent } = await webhooks.resendFailedDeliveries(
            { ownerId, destinationId: params.destination_id ?? "", since: readDate("since", body.since) },
            { origin },
          );
          return { resent };
        },
      ),
    );
}
