import { namesOf, REQUEST_TYPES, RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { EVENT_NAMES } from "@parley/shared/portable/events";
import { Type } from "@sinclair/typebox";
import { At, Id, Resource } from "../resources.ts";
import { About, DateTimeText, Maybe, Nullable, OneOf, Text } from "../types.ts";
import { Name } from "./fields.ts";

const Url = Text({
  max: 2048,
  pattern: "^https?://",
  form: "be an https:// address",
  description: "Address that events are sent to: a public one that starts with https://.",
  example: "https://hooks.acme.example/parley",
});

export const RequestType = OneOf(namesOf(REQUEST_TYPES), { description: "HTTP method that events are sent with." });

const RetrySchedule = OneOf(namesOf(RETRY_SCHEDULES), {
  description:
    "When failed attempts are repeated. `standard`: four attempts, ten seconds apart. `extended`: eight attempts over 24 hours.",
});

const DestinationStatus = OneOf(["enabled", "disabled"] as const, {
  description: "A disabled destination receives no events.",
});

export const Event = OneOf(EVENT_NAMES, { description: "Name of the event." });

const Events = Type.Array(Event, {
  minItems: 1,
  description: "The events that the destination gets.",
});

export const CreateDestinationBody = Type.Object(
  {
    name: Name,
    url: Url,
    request_type: RequestType,
    retry_schedule: Maybe(
      RetrySchedule,
      "When failed attempts are repeated: `standard` is four attempts, ten seconds apart, `extended` eight over 24 hours. Default: standard.",
    ),
    status: Maybe(DestinationStatus, "A disabled destination receives no events. Default: enabled."),
    events: Maybe(Events, "The events that the destination gets. Default: those of the end of a conversation."),
  },
  { $id: "CreateDestinationRequest", description: "A webhook destination." },
);

export const UpdateDestinationBody = Type.Object(
  {
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    request_type: Type.Optional(RequestType),
    retry_schedule: Type.Optional(RetrySchedule),
    status: Type.Optional(DestinationStatus),
    events: Type.Optional(Events),
  },
  { $id: "UpdateDestinationRequest", description: "The fields to change. Those that you leave out stay as they are." },
);

export const SendTestBody = Type.Object(
  { event: Maybe(Event, "Which event to send. Default: `conversation.completed`.") },
  { $id: "SendTestRequest", description: "The sample to send." },
);

export const ResendFailedBody = Type.Object(
  { since: About(DateTimeText, "Deliveries created at this time or later are resent.") },
  { $id: "ResendFailedRequest", description: "Which deliveries to resend." },
);

const destinationFields = {
  destination_id: Id("ID of the destination.", "whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ description: "Name to recognize the destination by.", examples: ["Production"] }),
  url: Type.String({
    description: "Address that events are sent to.",
    examples: ["https://hooks.acme.example/parley"],
  }),
  request_type: RequestType,
  retry_schedule: RetrySchedule,
  status: DestinationStatus,
  old_secret_valid_until: Nullable(
    At(),
    "Until when deliveries are also signed with the secret from before the last rotation.",
  ),
  events: Events,
  created_at: At("When the destination was created."),
  updated_at: At("When the destination was last changed."),
};

const Secret = Type.String({
  description: "Secret that deliveries are signed with, which is not shown again.",
  examples: ["whsec_4nzHJFqYpBFmKdBjBbVmYjVEpMpBV1pEM2m9TNb1Cgg="],
});

export const Destination = Resource("Destination", destinationFields);

export const DestinationList = Resource("DestinationList", {
  destinations: Type.Array(Destination, { description: "All destinations, oldest first." }),
});

export const NewDestination = Resource("NewDestination", { ...destinationFields, secret: Secret });

export const NewSecret = Resource("NewSecret", {
  destination_id: Id("ID of the destination.", "whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  secret: Secret,
  old_secret_valid_until: At("Until when deliveries are also signed with the old secret."),
});

export const TestSent = Resource("TestSent", {
  delivery_id: Id("ID of the sample's delivery.", "dlv_01m7yyhwdzeb28n9gms8rr2qyg"),
});

export const Resent = Resource("Resent", {
  resent: Type.Integer({ description: "Number of deliveries that are resent." }),
});
