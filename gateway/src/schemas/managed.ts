import { KEY_STATUSES, namesOf, TIERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { LlmConfig } from "./agents/shown.ts";
import { MobileNumber } from "./catalogue.ts";
import { IncludedCosts } from "./costs.ts";
import { DeliveryStatus, DestinationStatus, RequestType } from "./manage.ts";
import { At, Id, PageFigures, Resource } from "./resources.ts";
import { Nullable, OneOf } from "./types.ts";

/** The responses of the management API. */
export const Done = Resource("Done", {
  message: Type.String({ description: "What was done.", examples: ["Signed out"] }),
});

const TierFields = {
  tier: OneOf(namesOf(TIERS), { description: "Tier, which the operator sets." }),
  rate_limit_per_minute: Type.Integer({ description: "Requests per minute of each key.", examples: [500] }),
};

export const Owner = Resource("Owner", {
  owner_id: Id("ID of the owner.", "own_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ description: "Name of the owner.", examples: ["Acme"] }),
  email: Type.String({ description: "Email address to sign in with.", examples: ["ops@acme.example"] }),
  ...TierFields,
  created_at: At("When the owner was created."),
});

export const SessionList = Resource("SessionList", {
  sessions: Type.Array(
    Resource("Session", {
      session_id: Id("ID of the session.", "ses_01m7yyhwdzeb28n9gms8rr2qyg"),
      is_current: Type.Boolean({ description: "Whether the request was made in this session." }),
      user_agent: Nullable(
        Type.String({ examples: ["Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"] }),
        "The browser's User-Agent at sign-in, cut to 300 characters.",
      ),
      created_at: At("When the session began."),
      last_used_at: At("When the session was last used, to within five minutes."),
      expires_at: At("When the session ends at the latest. It ends earlier after a day without use."),
    }),
    { description: "The newest 200 sessions that have not ended, newest first." },
  ),
});

const keyFields = {
  key_id: Id("ID of the key.", "key_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Nullable(Type.String(), "Name to recognize the key by."),
  prefix: Type.String({ description: "The key's first 11 characters.", examples: ["vk_3JHs9fk2"] }),
  scopes: Type.Array(Type.String(), { description: "What the key may do; `*` is everything.", examples: [["*"]] }),
  status: OneOf(namesOf(KEY_STATUSES), { description: "Whether the key works." }),
  expires_at: Nullable(At(), "When the key stops working, null for never."),
  created_at: At("When the key was created."),
};

export const Key = Resource("Key", keyFields);
export const KeyList = Resource("KeyList", {
  keys: Type.Array(
    Resource("ListedKey", {
      ...keyFields,
      last_used_at: Type.Optional(
        Nullable(At(), "With `include=last_use`: when the key was last used, to within five minutes; null for never."),
      ),
    }),
    { description: "All keys, newest first." },
  ),
});
export const NewKey = Resource("NewKey", {
  ...keyFields,
  api_key: Type.String({ description: "The key itself, which is not shown again." }),
});

const destinationFields = {
  destination_id: Id("ID of the destination.", "whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ description: "Name to recognize the destination by.", examples: ["Production"] }),
  url: Type.String({
    description: "Address that events are sent to.",
    examples: ["https://hooks.acme.example/parley"],
  }),
  request_type: RequestType,
  status: DestinationStatus,
  old_secret_valid_until: Nullable(
    At(),
    "Until when deliveries are also signed with the secret from before the last rotation.",
  ),
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

const Attempt = Resource("Attempt", {
  number: Type.Integer({ minimum: 1, description: "Which attempt of the delivery it is." }),
  started_at: At("When the attempt started."),
  duration_ms: Type.Integer({ description: "Milliseconds that the attempt took." }),
  http_status: Nullable(
    Type.Integer({ examples: [204] }),
    "Status of the receiver's response; null if there was none.",
  ),
  error: Nullable(Type.String(), "Why there was no complete response; null if there was one."),
  response_excerpt: Nullable(Type.String(), "The first 4 KiB of the receiver's response."),
});

export const Delivery = Resource("Delivery", {
  delivery_id: Id("ID of the delivery.", "dlv_01m7yyhwdzeb28n9gms8rr2qyg"),
  destination_id: Id("ID of the destination.", "whd_01m7yyhwdzeb28n9gms8rr2qyg"),
  event_id: Id("ID of the event, the `webhook-id` of every attempt.", "evt_01m7yyhwdzeb28n9gms8rr2qyg"),
  event: Type.String({ description: "Name of the event.", examples: ["conversation.completed"] }),
  conversation_id: Type.String({ description: "ID of the conversation that ended." }),
  is_test: Type.Boolean({ description: "Whether it is a sample event, whose conversation does not exist." }),
  status: DeliveryStatus,
  attempts: Type.Array(Attempt, { description: "All attempts so far, oldest first." }),
  next_attempt_at: Nullable(At(), "When the next attempt is due, null if there is none."),
  created_at: At("When the delivery was created."),
});
export const DeliveryList = Resource("DeliveryList", {
  deliveries: Type.Array(Delivery, { description: "Deliveries of the page, newest first." }),
  ...PageFigures,
});

export const OwnNumber = Resource("OwnMobileNumber", {
  ...MobileNumber.properties,
  carrier_id: Nullable(Type.String(), "ID of the carrier that it was imported from; null if it was only added."),
});
export const NumberList = Resource("NumberList", {
  mobile_numbers: Type.Array(OwnNumber, { description: "All phone numbers, oldest first." }),
});

export const Settings = Resource("Settings", {
  retention_days: Type.Integer({ description: "Days for which conversations are kept.", examples: [90] }),
  ...TierFields,
});

const UsageFigures = {
  conversations: Type.Integer({ minimum: 0, description: "Conversations that began." }),
  replies: Type.Integer({ minimum: 0, description: "Replies from models." }),
  input_tokens: Type.Integer({ minimum: 0, description: "Input tokens." }),
  output_tokens: Type.Integer({ minimum: 0, description: "Output tokens." }),
  ...IncludedCosts,
};
export const Usage = Resource("Usage", {
  days: Type.Array(
    Resource("UsageDay", {
      day: Type.String({ format: "date", description: "The day, in UTC.", examples: ["2026-01-31"] }),
      ...UsageFigures,
    }),
    { description: "Every requested day, oldest first." },
  ),
  total: Resource("UsageTotal", UsageFigures, "Sums over all days."),
});

export const ModelSetup = Resource("ModelSetup", {
  llm_providers: Type.Array(Type.String(), { description: "Providers of language models that are ready to use." }),
  default_llm: Nullable(LlmConfig, "The model for a new agent, in the form of its `llm`; null if there is none."),
});
