import { CARRIERS, DELIVERY_STATUSES, GENDERS, namesOf, REQUEST_TYPES, SCOPES } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { VoiceProvider } from "./catalogue.ts";
import { IncludeCost } from "./costs.ts";
import { About, DateTimeText, E164, Maybe, OneOf, PageQuery, Text } from "./types.ts";

/** Longer than any password may be: the account service refuses one that is too long. */
const Password = (description: string, example: string) => Text({ min: 1, max: 1000, description, example });
const Name = Text({ min: 1, max: 100, description: "Name to recognize it by.", example: "Production" });

export const SignInBody = Type.Object(
  {
    email: Text({ min: 1, max: 254, description: "The owner's email address.", example: "ops@acme.example" }),
    password: Password("The owner's password.", "four words and a comma"),
  },
  { $id: "SignInRequest", description: "Who signs in." },
);

export const ChangePasswordBody = Type.Object(
  {
    current_password: Password("The current password.", "four words and a comma"),
    new_password: Password("The new password, 15 to 256 characters.", "another four words here"),
  },
  { $id: "ChangePasswordRequest", description: "A new password." },
);

export const CreateKeyBody = Type.Object(
  {
    name: Maybe(Name, "Name to recognize the key by."),
    scopes: Maybe(
      // An empty list must not mean every scope.
      Type.Array(OneOf(SCOPES), { minItems: 1, maxItems: 100 }),
      "What the key may do. Default: everything.",
    ),
    expires_at: Maybe(DateTimeText, "When the key stops working, a time in the future. Default: never."),
  },
  { $id: "CreateKeyRequest", description: "An API key." },
);

export const ListKeysQuery = Type.Object({
  include: Type.Optional(OneOf(["last_use"] as const, { description: "`last_use`: when each key was last used." })),
});

const Url = Text({
  max: 2048,
  pattern: "^https?://",
  form: "be an https:// address",
  description: "Address that events are sent to: a public one that starts with https://.",
  example: "https://hooks.acme.example/parley",
});
export const RequestType = OneOf(namesOf(REQUEST_TYPES), { description: "HTTP method that events are sent with." });
export const DestinationStatus = OneOf(["enabled", "disabled"] as const, {
  description: "A disabled destination receives no events.",
});

export const CreateDestinationBody = Type.Object(
  {
    name: Name,
    url: Url,
    request_type: RequestType,
    status: Maybe(DestinationStatus, "A disabled destination receives no events. Default: enabled."),
  },
  { $id: "CreateDestinationRequest", description: "A webhook destination." },
);

export const UpdateDestinationBody = Type.Object(
  {
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    request_type: Type.Optional(RequestType),
    status: Type.Optional(DestinationStatus),
  },
  { $id: "UpdateDestinationRequest", description: "The fields to change. Those that you leave out stay as they are." },
);

export const ResendFailedBody = Type.Object(
  { since: About(DateTimeText, "Deliveries created at this time or later are resent.") },
  { $id: "ResendFailedRequest", description: "Which deliveries to resend." },
);

export const DeliveryStatus = OneOf(namesOf(DELIVERY_STATUSES), { description: "Status of the delivery." });

export const ListDeliveriesQuery = Type.Object({
  ...PageQuery,
  destination_id: Type.Optional(Text({ max: 200, description: "Only deliveries to this destination." })),
  conversation_id: Type.Optional(Text({ max: 200, description: "Only deliveries of this conversation's event." })),
  status: Type.Optional(About(DeliveryStatus, "Only deliveries with this status.")),
});

export const Carrier = OneOf(CARRIERS, { description: "Carrier that the number was bought from." });

export const AddNumberBody = Type.Object(
  { mobile_number: E164, telephony_provider: Carrier },
  { $id: "AddMobileNumberRequest", description: "A phone number bought from a carrier." },
);

export const ListClonedVoicesQuery = Type.Object({ provider: VoiceProvider, ...PageQuery });

export const AddClonedVoiceBody = Type.Object(
  {
    provider: VoiceProvider,
    voice_id: Text({
      min: 1,
      max: 200,
      description: "The provider's ID of your own voice; one that GET /voices lists for everybody is refused.",
      example: "acme-receptionist",
    }),
    name: Text({ min: 1, max: 100, description: "Name to recognize the voice by.", example: "Our receptionist" }),
    gender: OneOf(namesOf(GENDERS), { description: "Gender of the voice." }),
    language: Text({ min: 2, max: 35, description: "Language of the voice, as a BCP 47 tag.", example: "en-US" }),
    preview_url: Maybe(Text({ max: 2048 }), "Address of a sample, starting with https://."),
  },
  { $id: "AddClonedVoiceRequest", description: "A voice that the owner has at a provider." },
);

export const UpdateSettingsBody = Type.Object(
  {
    retention_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        description: "Days for which conversations are kept. Older ones are permanently deleted.",
        examples: [90],
      }),
    ),
  },
  { $id: "UpdateSettingsRequest", description: "The settings to change. Those that you leave out stay as they are." },
);

const Day = (description: string) =>
  Text({
    pattern: "^(?!0000)\\d{4}-\\d{2}-\\d{2}$",
    form: "be a day such as 2026-01-31",
    description,
    example: "2026-01-31",
  });

const period = {
  from: Type.Optional(Day("First day, in UTC. Default: 29 days before `to`.")),
  to: Type.Optional(Day("Last day, in UTC. Default: today.")),
};

export const StatisticsQuery = Type.Object({
  ...period,
  agent_id: Type.Optional(Text({ max: 200, description: "Only conversations of this agent." })),
  include: IncludeCost,
});

export const UsageQuery = Type.Object({ ...period, include: IncludeCost });
