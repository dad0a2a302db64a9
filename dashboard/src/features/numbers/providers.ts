import type { Schema } from "../../api/client.ts";

export type Provider = Schema["Carrier"]["provider"];

export interface ProviderField {
  name:
    | "account_sid"
    | "auth_id"
    | "auth_token"
    | "host"
    | "username"
    | "password"
    | "api_key"
    | "phone_number_id"
    | "access_token"
    | "app_secret"
    | "verify_token"
    | "mobile_number"
    | "transport"
    | "allowed_addresses"
    | "agent_id";
  label: string;
  /** A text unless it is said. */
  kind?: "choice" | "list" | "agent";
  /** Of a choice; the first is the API's default. */
  options?: readonly string[];
  hint?: string;
  isSecret?: boolean;
  isOptional?: boolean;
}

interface ProviderText {
  label: string;
  /** Where the fields are found. */
  help: string;
  fields: readonly ProviderField[];
  /** Whether phone numbers come with it. */
  hasNumbers: boolean;
}

const AUTH_TOKEN = { name: "auth_token", label: "Auth token", isSecret: true } as const;

/** The providers of channels in the words of people, with the fields that each asks for. */
export const PROVIDERS: Record<Provider, ProviderText> = {
  TWILIO: {
    label: "Twilio",
    help: "Both are on the first page of the Twilio Console.",
    fields: [{ name: "account_sid", label: "Account SID", hint: "Begins with AC." }, AUTH_TOKEN],
    hasNumbers: true,
  },
  PLIVO: {
    label: "Plivo",
    help: "Both are on the overview of the Plivo Console.",
    fields: [{ name: "auth_id", label: "Auth ID" }, AUTH_TOKEN],
    hasNumbers: true,
  },
  SIP: {
    label: "SIP trunk",
    help: "Your telephone company tells you these.",
    fields: [
      { name: "host", label: "Server", hint: "A host name or an address, with a port if it is not SIP’s own." },
      { name: "transport", label: "Transport", kind: "choice", options: ["UDP", "TCP", "TLS"] },
      { name: "username", label: "User", hint: "If the trunk asks Parley to register.", isOptional: true },
      { name: "password", label: "Password", isSecret: true, isOptional: true },
      {
        name: "allowed_addresses",
        label: "Addresses of the trunk",
        kind: "list",
        hint: "IP addresses or CIDRs that its calls come from, with commas between.",
        isOptional: true,
      },
    ],
    hasNumbers: true,
  },
  DAILY: {
    label: "Daily",
    help: "The key is under Developers in the Daily dashboard.",
    fields: [{ name: "api_key", label: "API key", isSecret: true }],
    hasNumbers: false,
  },
  WHATSAPP: {
    label: "WhatsApp",
    help: "You find these in WhatsApp Manager and in your app at Meta.",
    fields: [
      { name: "mobile_number", label: "Phone number", hint: "Such as +14155550123." },
      { name: "phone_number_id", label: "Phone number ID" },
      { name: "access_token", label: "Access token", hint: "Of a system user.", isSecret: true },
      { name: "app_secret", label: "App secret", isSecret: true },
      {
        name: "verify_token",
        label: "Verify token",
        hint: "A word of your own, which you also give to Meta.",
        isSecret: true,
      },
      { name: "agent_id", label: "Agent", kind: "agent", hint: "Answers the messages.", isOptional: true },
    ],
    hasNumbers: false,
  },
};

export const PROVIDER_OPTIONS = Object.entries(PROVIDERS).map(([value, { label }]) => ({ value, label }));

/** What tells one account of a provider from another. */
export function accountOf(carrier: Schema["Carrier"]): string {
  const { account_sid, auth_id, host, username, mobile_number, phone_number_id } = carrier;
  const account = account_sid ?? auth_id ?? mobile_number ?? phone_number_id;
  return account ?? [username, host].filter(Boolean).join("@");
}

/** How people write a carrier's name. */
export function carrierName(provider: string): string {
  return PROVIDERS[provider as Provider]?.label ?? provider;
}
