import { KEY_STATUSES, namesOf, TIERS } from "@parley/shared/api-names";
import { Type } from "@sinclair/typebox";
import { DeliveryStatus, DestinationStatus, RequestType } from "./manage.ts";
import { DateTime, Id, MobileNumber, PageFigures, Resource } from "./resources.ts";
import { Nullable, OneOf } from "./types.ts";

/** What the management API answers. */
export const Done = Resource("Done", { message: Type.String({ examples: ["Signed out"] }) });

const TierFields = {
  tier: OneOf(namesOf(TIERS)),
  rate_limit_per_minute: Type.Integer({ description: "Requests per minute of each key.", examples: [500] }),
};

export const Owner = Resource("Owner", {
  owner_id: Id("own_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ examples: ["Acme"] }),
  email: Type.String({ examples: ["ops@acme.example"] }),
  ...TierFields,
  created_at: DateTime,
});

const keyFields = {
  key_id: Id("key_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Nullable(Type.String()),
  prefix: Type.String({ description: "The key's first 11 characters.", examples: ["vk_3JHs9fk2"] }),
  scopes: Type.Array(Type.String(), { examples: [["*"]] }),
  status: OneOf(namesOf(KEY_STATUSES)),
  expires_at: Nullable(DateTime),
  created_at: DateTime,
};

export const Key = Resource("Key", keyFields);
export const KeyList = Resource("KeyList", { keys: Type.Array(Key) });
export const NewKey = Resource("NewKey", {
  ...keyFields,
  api_key: Type.String({ description: "The key itself, shown this once." }),
});

const destinationFields = {
  destination_id: Id("whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ examples: ["Production"] }),
  url: Type.String({ examples: ["https://hooks.acme.example/parley"] }),
  request_type: RequestType,
  status: DestinationStatus,
  old_secret_valid_until: Nullable({
    ...DateTime,
    description: "Until when deliveries are signed with the secret before the last rotation too.",
  }),
  created_at: DateTime,
  updated_at: DateTime,
};
const Secret = Type.String({ description: "What deliveries are signed with, shown this once.", examples: ["whsec_…"] });

export const Destination = Resource("Destination", destinationFields);
export const DestinationList = Resource("DestinationList", { destinations: Type.Array(Destination) });
export const NewDestination = Resource("NewDestination", { ...destinationFields, secret: Secret });
export const NewSecret = Resource("NewSecret", {
  destination_id: Id("whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  secret: Secret,
  old_secret_valid_until: DateTime,
});

export const TestSent = Resource("TestSent", { delivery_id: Id("dlv_01m7yyhwdzeb28n9gms8rr2qyg") });
export const Resent = Resource("Resent", { resent: Type.Integer({ description: "Deliveries that go out again." }) });

const Attempt = Resource("Attempt", {
  number: Type.Integer({ minimum: 1 }),
  started_at: DateTime,
  duration_ms: Type.Integer(),
  http_status: Nullable(Type.Integer({ examples: [204] })),
  error: Nullable(Type.String({ description: "Why there was no whole answer." })),
  response_excerpt: Nullable(Type.String({ description: "At most 4 KiB of the answer." })),
});

export const Delivery = Resource("Delivery", {
  delivery_id: Id("dlv_01m7yyhwdzeb28n9gms8rr2qyg"),
  destination_id: Id("whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  event_id: Id("evt_01m7yyhwdzeb28n9gms8rr2qyg"),
  event: Type.String({ examples: ["conversation.completed"] }),
  conversation_id: Type.String(),
  is_test: Type.Boolean({ description: "Of a sample event: there is no such conversation." }),
  status: DeliveryStatus,
  attempts: Type.Array(Attempt),
  next_attempt_at: Nullable(DateTime),
  created_at: DateTime,
});
export const DeliveryList = Resource("DeliveryList", { deliveries: Type.Array(Delivery), ...PageFigures });

export const NumberList = Resource("NumberList", { mobile_numbers: Type.Array(MobileNumber) });

export const Settings = Resource("Settings", {
  retention_days: Type.Integer({ description: "Conversations older than that are gone.", examples: [90] }),
  ...TierFields,
});

const UsageFigures = {
  conversations: Type.Integer({ minimum: 0 }),
  replies: Type.Integer({ minimum: 0 }),
  input_tokens: Type.Integer({ minimum: 0 }),
  output_tokens: Type.Integer({ minimum: 0 }),
};
export const Usage = Resource("Usage", {
  days: Type.Array(
    Resource("UsageDay", { day: Type.String({ format: "date", examples: ["2026-01-31"] }), ...UsageFigures }),
    { description: "Every day asked for, oldest first." },
  ),
  total: Resource("UsageTotal", UsageFigures),
});
