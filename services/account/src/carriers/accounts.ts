import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import { asServiceError } from "@parley/shared/carriers/errors";
import type { CarrierProvider } from "@parley/shared/domain/carriers";
import type { CarrierAccount } from "./account.ts";
import { dailyAccount } from "./daily.ts";
import { plivoAccount } from "./plivo.ts";
import { sipAccount } from "./sip.ts";
import { twilioAccount } from "./twilio.ts";
import { whatsAppAccount } from "./whatsapp.ts";

/** Addresses of the providers' APIs and of ours. */
export interface CarrierAddresses {
  twilio: string;
  plivo: string;
  daily: string;
  whatsApp: string;
  /** PARLEY_PUBLIC_URL; "" if unknown. */
  publicUrl: string;
}

/** The adapter of an account. @param settings with their secrets */
export function carrierAccount(
  { twilio, plivo, daily, whatsApp, publicUrl }: CarrierAddresses,
  { provider, carrierId, settings }: { provider: CarrierProvider; carrierId: string; settings: CarrierSettings },
): CarrierAccount {
  const { accountSid = "", authId = "", authToken = "", apiKey = "" } = settings;
  const { phoneNumberId = "", accessToken = "", mobileNumber = "" } = settings;
  switch (provider) {
    case "TWILIO":
      return twilioAccount({ baseUrl: twilio, publicUrl, carrierId, accountSid, authToken });
    case "PLIVO":
      return plivoAccount({ baseUrl: plivo, publicUrl, carrierId, authId, authToken });
    case "DAILY":
      return dailyAccount({ baseUrl: daily, apiKey });
    case "WHATSAPP":
      return whatsAppAccount({ baseUrl: whatsApp, phoneNumberId, accessToken, mobileNumber });
    case "SIP":
      return sipAccount;
  }
}

/** Asks a carrier for an RPC. @throws ServiceError upstream_failed with the carrier's own words, or unavailable */
export async function asking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asServiceError(error, "The carrier");
  }
}
