import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";

export type CarrierField = keyof CarrierSettings;

interface FieldRule {
  /** Name in the API's requests and answers. */
  api: string;
  /** Sealed, and shown masked. */
  isSecret?: true;
  isOptional?: true;
}

const secret = (api: string) => ({ api, isSecret: true }) as const;
const optional = (api: string) => ({ api, isOptional: true }) as const;

/** The fields of each provider of channels. `account` names those that distinguish its accounts. */
export const CARRIER_PROVIDERS = {
  TWILIO: {
    fields: { accountSid: { api: "account_sid" }, authToken: secret("auth_token") },
    account: ["accountSid"],
  },
  PLIVO: { fields: { authId: { api: "auth_id" }, authToken: secret("auth_token") }, account: ["authId"] },
  SIP: {
    fields: {
      host: { api: "host" },
      transport: optional("transport"),
      username: optional("username"),
      password: { ...secret("password"), isOptional: true },
      allowedAddresses: optional("allowed_addresses"),
    },
    account: ["host", "username"],
  },
  DAILY: { fields: { apiKey: secret("api_key") }, account: [] },
  WHATSAPP: {
    fields: {
      phoneNumberId: { api: "phone_number_id" },
      accessToken: secret("access_token"),
      appSecret: secret("app_secret"),
      verifyToken: secret("verify_token"),
      mobileNumber: { api: "mobile_number" },
      agentId: optional("agent_id"),
    },
    account: ["phoneNumberId"],
  },
} as const satisfies Record<
  string,
  { fields: { [F in CarrierField]?: FieldRule }; account: readonly Exclude<CarrierField, "allowedAddresses">[] }
>;

export type CarrierProvider = keyof typeof CARRIER_PROVIDERS;

export function isCarrierProvider(text: string): text is CarrierProvider {
  return Object.hasOwn(CARRIER_PROVIDERS, text);
}

/** Whether to register with a SIP trunk: if it has credentials, and no addresses that its calls come from. */
export function wantsRegistration({ username, password, allowedAddresses }: CarrierSettings): boolean {
  return Boolean(username && password) && allowedAddresses.length === 0;
}

/** The fields of a provider, in the order to show them. */
export function carrierFields(provider: CarrierProvider): { field: CarrierField; rule: FieldRule }[] {
  const fields: { [F in CarrierField]?: FieldRule } = CARRIER_PROVIDERS[provider].fields;
  return Object.entries(fields).map(([field, rule]) => ({ field: field as CarrierField, rule }));
}
