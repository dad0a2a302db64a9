import { CARRIER_PROVIDERS, type CarrierProvider } from "@parley/shared/domain/carriers";
import { Type } from "@sinclair/typebox";
import { AgentId, At, Id, Resource } from "../resources.ts";
import { About, E164, Maybe, Nullable, OneOf, Text } from "../types.ts";

/** Longer than any field may be: the account service checks each provider's own. */
const Field = (description: string, example: string) => Text({ min: 1, max: 300, description, example });

const CarrierProviderName = OneOf(Object.keys(CARRIER_PROVIDERS) as CarrierProvider[], {
  description: "The carrier, or another provider of channels.",
});
const CarrierId = Id("ID of the connected carrier.", "car_01m7yyhwgbk5r2v7x0z4b6d8f1");

const Transport = OneOf(["UDP", "TCP", "TLS"] as const, { description: "SIP transport to the trunk." });
const AllowedAddresses = Type.Array(Text({ max: 100 }), {
  maxItems: 100,
  description: "SIP: IP addresses and CIDRs that the trunk's calls come from.",
});
const FIELDS = {
  account_sid: Field("TWILIO: the account SID.", "AC0123456789abcdef0123456789abcdef"),
  auth_id: Field("PLIVO: the auth ID.", "MA0123456789ABCDEF01"),
  auth_token: Field("TWILIO, PLIVO: the auth token.", "0123456789abcdef0123456789abcdef"),
  host: Field("SIP: host name or IP address of the trunk, with a port if it is not the SIP default.", "trunk.example"),
  username: Field("SIP: user to register and authenticate as.", "acme"),
  password: Field("SIP: password of the user.", "correct horse"),
  api_key: Field("DAILY: the domain's API key.", "7d5ae1b6c8e94f0f"),
  phone_number_id: Field("WHATSAPP: ID of the phone number in WhatsApp Manager.", "106540352242922"),
  access_token: Field("WHATSAPP: token of a system user.", "EAAGm0PX4ZCpsBA"),
  app_secret: Field("WHATSAPP: secret of the Meta app, which signs its webhooks.", "2f6b7d0c9a1e4f58"),
  verify_token: Field("WHATSAPP: a value that you choose and also enter at Meta.", "our-word-for-meta"),
};

export const ConnectCarrierBody = Type.Object(
  {
    provider: CarrierProviderName,
    ...Object.fromEntries(Object.entries(FIELDS).map(([name, schema]) => [name, Maybe(schema, schema.description)])),
    transport: Maybe(Transport, "SIP: transport to the trunk. Default: UDP."),
    allowed_addresses: Maybe(AllowedAddresses, AllowedAddresses.description),
    mobile_number: Maybe(E164, "WHATSAPP: the phone number, in E.164 form."),
    agent_id: Maybe(Text({ max: 100 }), "WHATSAPP: ID of the agent that answers."),
  },
  {
    $id: "ConnectCarrierRequest",
    description: "An account with a provider. Each provider takes the fields that name it.",
  },
);

const Shown = (schema: { description: string }) =>
  Type.Optional(Type.String({ description: `${schema.description} Secrets are masked.` }));

const carrierFields = {
  carrier_id: CarrierId,
  provider: CarrierProviderName,
  ...Object.fromEntries(Object.entries(FIELDS).map(([name, { description = "" }]) => [name, Shown({ description })])),
  transport: Type.Optional(Transport),
  allowed_addresses: Type.Optional(AllowedAddresses),
  mobile_number: Type.Optional(Type.String({ description: "WHATSAPP: the phone number, in E.164 form." })),
  agent_id: Type.Optional(About(AgentId, "WHATSAPP: ID of the agent that answers.")),
  created_at: At("When the carrier was connected."),
};
export const Carrier = Resource("Carrier", carrierFields, "A connected account. It has the fields of its provider.");

const Registration = Resource("TrunkRegistration", {
  state: OneOf(["REGISTERED", "REGISTERING", "REFUSED", "UNREACHABLE", "NOT_REGISTERING"] as const, {
    description:
      "Whether the trunk is registered with. `NOT_REGISTERING`: it needs no registration, or cannot have one; `reason` says why.",
  }),
  since: Nullable(At(), "When this state began; null before the first attempt, and for `NOT_REGISTERING`."),
  expires_at: Nullable(At(), "`REGISTERED`: until when, unless it is renewed."),
  sip_status: Nullable(Type.Integer(), "SIP status that the trunk answered with, such as 403."),
  reason: Nullable(Type.String(), "The trunk's own words, or what is wrong."),
});
export const ShownCarrier = Resource(
  "ShownCarrier",
  {
    ...carrierFields,
    registration: Type.Optional(
      Nullable(
        Registration,
        "With `include=registration`: the registration with a SIP trunk; null for other carriers.",
      ),
    ),
  },
  "A connected account. It has the fields of its provider.",
);
const SipAddress = (description: string, example: string) =>
  Type.Optional(Nullable(Type.String({ examples: [example] }), description));

export const CarrierList = Resource("CarrierList", {
  carriers: Type.Array(ShownCarrier, { description: "All connected carriers, oldest first." }),
  sip_address: SipAddress(
    "With `include=registration`: where SIP trunks send their calls over UDP and TCP, unless they use a registration; null without SIP.",
    "203.0.113.7:5060",
  ),
  sip_tls_address: SipAddress(
    "With `include=registration`: the same over TLS; null without SIP over TLS.",
    "203.0.113.7:5061",
  ),
});

export const ShowCarrierQuery = Type.Object({
  include: Type.Optional(
    OneOf(["registration"] as const, { description: "`registration`: how the registration with a SIP trunk stands." }),
  ),
});

export const CarrierNumbers = Resource("CarrierNumbers", {
  numbers: Type.Array(
    Resource("CarrierNumber", {
      mobile_number: Type.String({ description: "Phone number in E.164 form.", examples: ["+14155550123"] }),
      name: Nullable(Type.String(), "The number's name at the carrier."),
      takes_calls: Type.Boolean({ description: "Whether the number can take calls." }),
      imported: Type.Boolean({ description: "Whether you have imported it." }),
    }),
    { description: "The phone numbers of the account, at most 1,000; none for a SIP trunk, which cannot list them." },
  ),
});

export const ImportNumberBody = Type.Object(
  { mobile_number: E164 },
  { $id: "ImportMobileNumberRequest", description: "A phone number of the carrier account." },
);
