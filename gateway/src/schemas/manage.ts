import {
  CARRIERS,
  DELIVERY_STATUSES,
  GENDERS,
  namesOf,
  REQUEST_TYPES,
  SCOPES,
  TTS_PROVIDERS,
} from "@parley/shared/api-names";
import { Type } from "@sinclair/typebox";
import { DateTimeText, E164, Maybe, OneOf, PageQuery, Text } from "./types.ts";

/** Longer than any password may be: what is too long is for the account service to say. */
const Password = (example: string) => Text({ min: 1, max: 1000, example });
const Name = Text({ min: 1, max: 100, example: "Production" });

export const SignInBody = Type.Object({
  email: Text({ min: 1, max: 254, example: "ops@acme.example" }),
  password: Password("four words and a comma"),
});

export const ChangePasswordBody = Type.Object({
  current_password: Password("four words and a comma"),
  new_password: Text({
    min: 1,
    max: 1000,
    description: "15 to 256 characters.",
    example: "another four words here",
  }),
});

export const CreateKeyBody = Type.Object({
  name: Maybe(Name),
  scopes: Maybe(
    // Nothing ticked must not be everything allowed.
    Type.Array(OneOf(SCOPES), {
      minItems: 1,
      maxItems: 100,
      description: "All where it is left out.",
      examples: [["agents:read", "chat"]],
    }),
  ),
  expires_at: Maybe(DateTimeText),
});

const Url = Text({
  max: 2048,
  pattern: "^https?://",
  form: "be an https:// address",
  example: "https://hooks.acme.example/parley",
});
export const RequestType = OneOf(namesOf(REQUEST_TYPES));
export const DestinationStatus = OneOf(["enabled", "disabled"] as const);

export const CreateDestinationBody = Type.Object({
  name: Name,
  url: Url,
  request_type: RequestType,
  status: Maybe(DestinationStatus),
});

export const UpdateDestinationBody = Type.Object({
  name: Type.Optional(Name),
  url: Type.Optional(Url),
  request_type: Type.Optional(RequestType),
  status: Type.Optional(DestinationStatus),
});

export const ResendFailedBody = Type.Object({ since: DateTimeText });

export const DeliveryStatus = OneOf(namesOf(DELIVERY_STATUSES));

export const ListDeliveriesQuery = Type.Object({
  ...PageQuery,
  destination_id: Type.Optional(Text({ max: 200 })),
  conversation_id: Type.Optional(Text({ max: 200 })),
  status: Type.Optional(DeliveryStatus),
});

export const AddNumberBody = Type.Object({
  mobile_number: E164,
  telephony_provider: OneOf(CARRIERS),
});

export const ListClonedVoicesQuery = Type.Object({ provider: OneOf(TTS_PROVIDERS), ...PageQuery });

export const AddClonedVoiceBody = Type.Object({
  provider: OneOf(TTS_PROVIDERS),
  voice_id: Text({ min: 1, max: 200, description: "The provider's id of it.", example: "pNInz6obpgDQGcFmaJgB" }),
  name: Text({ min: 1, max: 100, example: "Our receptionist" }),
  gender: OneOf(namesOf(GENDERS)),
  language: Text({ min: 2, max: 35, example: "en-US" }),
  preview_url: Maybe(Text({ max: 2048, example: "https://cdn.acme.example/receptionist.mp3" })),
});

export const UpdateSettingsBody = Type.Object({
  retention_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650, examples: [30] })),
});

const Day = (description: string) =>
  Text({
    pattern: "^(?!0000)\\d{4}-\\d{2}-\\d{2}$",
    form: "be a day such as 2026-01-31",
    description,
    example: "2026-01-31",
  });

export const UsageQuery = Type.Object({
  from: Type.Optional(Day("First day, in UTC; 29 days before the last where it is left out.")),
  to: Type.Optional(Day("Last day; today where it is left out.")),
});
