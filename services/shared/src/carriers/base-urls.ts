import { str } from "envalid";

/** The addresses of the providers' APIs. The operator sets them, so they are not guarded and may be plain http. */
export const CARRIER_BASE_URLS = {
  PARLEY_TWILIO_BASE_URL: str({ default: "https://api.twilio.com", desc: "Twilio's API" }),
  PARLEY_PLIVO_BASE_URL: str({ default: "https://api.plivo.com", desc: "Plivo's API" }),
  PARLEY_DAILY_BASE_URL: str({ default: "https://api.daily.co/v1", desc: "Daily's API" }),
  PARLEY_WHATSAPP_BASE_URL: str({
    default: "https://graph.facebook.com/v23.0",
    desc: "Meta's Graph API, with its version",
  }),
};
