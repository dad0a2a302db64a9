import type { Adapters } from "./connected.ts";
import { plivoCarrier } from "./plivo.ts";
import { twilioCarrier } from "./twilio.ts";

interface AdapterSettings {
  twilioUrl: string;
  plivoUrl: string;
  /** PARLEY_PUBLIC_URL; without it carriers cannot call back, and no calls can be made over them. */
  publicUrl: string;
  /** Our own id of a carrier's call of an owner, if it is known; null for none. */
  callOf(ownerId: string, carrierCallId: string): Promise<string | null>;
}

export function carrierAdapters({ twilioUrl, plivoUrl, publicUrl, callOf }: AdapterSettings): Adapters {
  if (publicUrl === "") return {};
  return {
    TWILIO: ({ settings }) => {
      const { accountSid = "", authToken = "" } = settings ?? {};
      return twilioCarrier({ baseUrl: twilioUrl, publicUrl, accountSid, authToken });
    },
    PLIVO: ({ ownerId, carrierId, settings }) => {
      const { authId = "", authToken = "" } = settings ?? {};
      const known = (carrierCallId: string) => callOf(ownerId, carrierCallId);
      return plivoCarrier({ baseUrl: plivoUrl, publicUrl, carrierId, authId, authToken, callOf: known });
    },
  };
}
