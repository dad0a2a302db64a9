import type { Carrier, CarrierNumber, CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { carrierFields, isCarrierProvider } from "../carriers.ts";
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
