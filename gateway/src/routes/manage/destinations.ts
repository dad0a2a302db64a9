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
import { endpoint } from "../endpoint.ts";

export function destinationRoutes(gate: GateContext, { webhooks }: Clients) {
  return new Elysia({ prefix: "/v1/manage/destinations" })
    .get(
      "/",
      ...endpoint(
        gate,
        {
          id: "listDestinations",
          tag: "Management",
          summary: "List webhook destinations",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "createDestination",
          tag: "Management",
          summary: "Create a webhook destination; its secret is shown only once",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "updateDestination",
          tag: "Management",
          summary: "Change a webhook destination",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "deleteDestination",
          tag: "Management",
          summary: "Delete a webhook destination",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "rotateSecret",
          tag: "Management",
          summary: "Give a destination a new secret, shown only once",
          description: "The old secret stays valid for 24 hours.",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "sendTestEvent",
          tag: "Management",
          summary: "Send a destination a sample event",
          description: "It is sent whether or not the destination gets such events.",
          scope: "session",
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
      ...endpoint(
        gate,
        {
          id: "resendFailedDeliveries",
          tag: "Management",
          summary: "Resend the failed deliveries of a destination",
          scope: "session",
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
