import { DELIVERY_STATUSES, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { At, Id, PageFigures, Resource } from "../resources.ts";
import { About, Nullable, OneOf, PageQuery, Text } from "../types.ts";
import { Event, RequestType } from "./destinations.ts";

const DeliveryStatus = OneOf(namesOf(DELIVERY_STATUSES), { description: "Status of the delivery." });

export const ListDeliveriesQuery = Type.Object({
  ...PageQuery,
  destination_id: Type.Optional(Text({ max: 200, description: "Only deliveries to this destination." })),
  conversation_id: Type.Optional(Text({ max: 200, description: "Only deliveries of this conversation's events." })),
  status: Type.Optional(About(DeliveryStatus, "Only deliveries with this status.")),
  event: Type.Optional(About(Event, "Only deliveries of this event.")),
});

const attemptFields = {
  number: Type.Integer({ minimum: 1, description: "Which attempt of the delivery it is." }),
  started_at: At("When the attempt started."),
  duration_ms: Type.Integer({ description: "Milliseconds that the attempt took." }),
  http_status: Nullable(
    Type.Integer({ examples: [204] }),
    "Status of the receiver's response; null if there was none.",
  ),
  error: Nullable(Type.String(), "Why there was no complete response; null if there was one."),
  response_excerpt: Nullable(Type.String(), "The first 4 KiB of the receiver's response."),
};

const Attempt = Resource("Attempt", attemptFields);

const AttemptRequest = Resource("AttemptRequest", {
  method: RequestType,
  url: Type.String({
    description: "Address that the request went to, without the event and payload that a GET appends.",
    examples: ["https://hooks.acme.example/parley"],
  }),
  headers: Type.Record(Type.String(), Type.String(), { description: "Headers that were sent, with the signature." }),
});

const SentAttempt = Resource("SentAttempt", {
  ...attemptFields,
  request: Nullable(AttemptRequest, "What was sent, null if no request was made."),
});

const deliveryFields = {
  delivery_id: Id("ID of the delivery.", "dlv_01m7yyhwdzeb28n9gms8rr2qyg"),
  destination_id: Id("ID of the destination.", "whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  event_id: Id("ID of the event, the `webhook-id` of every attempt.", "evt_01m7yyhwdzeb28n9gms8rr2qyg"),
  event: Type.String({ description: "Name of the event.", examples: ["conversation.completed"] }),
  conversation_id: Nullable(Type.String(), "ID of the event's conversation; null if it is about none."),
  is_test: Type.Boolean({ description: "Whether it is a sample event, whose conversation does not exist." }),
  status: DeliveryStatus,
  next_attempt_at: Nullable(At(), "When the next attempt is due, null if there is none."),
  created_at: At("When the delivery was created."),
};
const ATTEMPTS = { description: "The newest 20 attempts, oldest first." };

export const Delivery = Resource("Delivery", { ...deliveryFields, attempts: Type.Array(Attempt, ATTEMPTS) });

export const SentDelivery = Resource("SentDelivery", {
  ...deliveryFields,
  payload: Nullable(
    Type.String({ examples: ['{"event":"conversation.completed","is_test_call":true}'] }),
    "The JSON that is sent, null after its conversation is deleted.",
  ),
  attempts: Type.Array(SentAttempt, ATTEMPTS),
});

export const DeliveryList = Resource("DeliveryList", {
  deliveries: Type.Array(Delivery, { description: "Deliveries of the page, newest first." }),
  ...PageFigures,
});
