import type { Carrier, CarrierNumber, CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import type { ListTrunkRegistrationsResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { nameOf, REGISTRATION_STATES } from "../api-names.ts";
import { carrierFields, isCarrierProvider, wantsRegistration } from "../carriers.ts";
import { isoTime } from "./time.ts";

/** A connected carrier as the management API and the command line show it, with the fields of its provider. */
export function presentCarrier({ carrierId, provider, settings, createdAt }: Carrier) {
  return {
    carrier_id: carrierId,
    provider,
    ...(isCarrierProvider(provider) && settings && presentSettings(provider, settings)),
    created_at: isoTime(createdAt) ?? null,
  };
}

export interface ShownRegistration {
  state: keyof typeof REGISTRATION_STATES | "NOT_REGISTERING";
  /** Null for a trunk without registration, or whose registration has not been tried yet. */
  since: string | null;
  expires_at: string | null;
  sip_status: number | null;
  reason: string | null;
}

/** The state of the registration with a carrier; null for a carrier that is not a SIP trunk. */
export function presentRegistration(
  { carrierId, provider, settings }: Carrier,
  { registrations, hasSip }: ListTrunkRegistrationsResponse,
): ShownRegistration | null {
  if (provider !== "SIP" || !settings) return null;
  const unregistered = { since: null, expires_at: null, sip_status: null, reason: null };
  if (settings.allowedAddresses.length > 0) {
    const reason = "The trunk's calls come from its allowed_addresses";
    return { ...unregistered, state: "NOT_REGISTERING", reason };
  }
  if (!wantsRegistration(settings)) {
    const reason = "The trunk has no username and password: its calls come from the addresses of its host";
    return { ...unregistered, state: "NOT_REGISTERING", reason };
  }
  if (!hasSip) {
    const reason = "This installation has no SIP: the operator has to set PARLEY_SIP_LISTEN";
    return { ...unregistered, state: "NOT_REGISTERING", reason };
  }
  const known = registrations.find((registration) => registration.carrierId === carrierId);
  if (!known) return { ...unregistered, state: "REGISTERING" };
  return {
    state: nameOf(REGISTRATION_STATES, known.state) ?? "REGISTERING",
    since: isoTime(known.since) ?? null,
    expires_at: isoTime(known.expiresAt) ?? null,
    sip_status: known.sipStatus ?? null,
    reason: known.reason ?? null,
  };
}

/** Where SIP trunks send their calls, unless they use a registration. */
export function presentSip({ sipAddress, sipTlsAddress }: ListTrunkRegistrationsResponse) {
  return { sip_address: sipAddress ?? null, sip_tls_address: sipTlsAddress ?? null };
}

function presentSettings(provider: Parameters<typeof carrierFields>[0], settings: CarrierSettings) {
  return Object.fromEntries(
    carrierFields(provider).flatMap(({ field, rule }) =>
      settings[field] === undefined ? [] : [[rule.api, settings[field]]],
    ),
  ) as Record<string, string | string[]>;
}

/** Reads the fields of any provider from their names in the API; null stands for a missing one. */
export function readCarrierSettings(body: Readonly<Record<string, unknown>>): CarrierSettings {
  const given: Record<string, unknown> = { allowedAddresses: [] };
  for (const provider of ["TWILIO", "PLIVO", "SIP", "DAILY", "WHATSAPP"] as const) {
    for (const { field, rule } of carrierFields(provider)) given[field] = body[rule.api] ?? given[field];
  }
  return given as unknown as CarrierSettings;
}

export function presentCarrierNumber({ mobileNumber, name, takesCalls, imported }: CarrierNumber) {
  return { mobile_number: mobileNumber, name: name || null, takes_calls: takesCalls, imported };
}
