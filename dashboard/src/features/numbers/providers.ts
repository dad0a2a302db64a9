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
  /** The field is a text unless this says otherwise. */
  kind?: "choice" | "list" | "agent";
  /** The options of a choice; the first is the API's default. */
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

/** The providers of channels in plain words, with the fields that each asks for. */
export const PROVIDERS: Record<Provider, ProviderText> = {
  TWILIO: {
    label: "Twilio",
    help: "Find both on the home page of the Twilio Console.",
    fields: [{ name: "account_sid", label: "Account SID", hint: "Starts with AC." }, AUTH_TOKEN],
    hasNumbers: true,
  },
  PLIVO: {
    label: "Plivo",
    help: "Find both on the overview page of the Plivo Console.",
    fields: [{ name: "auth_id", label: "Auth ID" }, AUTH_TOKEN],
    hasNumbers: true,
  },
  SIP: {
    label: "SIP trunk",
    help: "Your SIP provider gives you these details.",
    fields: [
      { name: "host", label: "Server", hint: "A hostname or IP address, with a port if it is not the SIP default." },
      { name: "transport", label: "Transport", kind: "choice", options: ["UDP", "TCP", "TLS"] },
      { name: "username", label: "Username", hint: "Only if the trunk requires registration.", isOptional: true },
      { name: "password", label: "Password", isSecret: true, isOptional: true },
      {
        name: "allowed_addresses",
        label: "Trunk IP addresses",
        kind: "list",
        hint: "IP addresses or CIDR ranges that its calls come from, separated by commas.",
        isOptional: true,
      },
    ],
    hasNumbers: true,
  },
  DAILY: {
    label: "Daily",
    help: "Find the key under Developers in the Daily dashboard.",
    fields: [{ name: "api_key", label: "API key", isSecret: true }],
    hasNumbers: false,
  },
  WHATSAPP: {
    label: "WhatsApp",
    help: "Find these in WhatsApp Manager and in your Meta app. Once connected, you get the callback URL to enter there.",
    fields: [
      { name: "mobile_number", label: "Phone number", hint: "For example, +14155550123." },
      { name: "phone_number_id", label: "Phone number ID" },
      { name: "access_token", label: "Access token", hint: "The token of a system user.", isSecret: true },
      { name: "app_secret", label: "App secret", isSecret: true },
      {
        name: "verify_token",
        label: "Verify token",
        hint: "Any value that you choose. Enter the same value in your Meta app.",
        isSecret: true,
      },
      { name: "agent_id", label: "Agent", kind: "agent", hint: "The agent that answers messages.", isOptional: true },
    ],
    hasNumbers: false,
  },
};

export const PROVIDER_OPTIONS = Object.entries(PROVIDERS).map(([value, { label }]) => ({ value, label }));

/** The field that distinguishes the accounts of a provider. */
export function accountOf(carrier: Schema["Carrier"]): string {
  const { account_sid, auth_id, host, username, mobile_number, phone_number_id } = carrier;
  const account = account_sid ?? auth_id ?? mobile_number ?? phone_number_id;
  return account ?? [username, host].filter(Boolean).join("@");
}

/** How people write a carrier's name. */
export function carrierName(provider: string): string {
  return PROVIDERS[provider as Provider]?.label ?? provider;
}
