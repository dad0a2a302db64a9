import { basicAuth, type CarrierRest, carrierRest } from "./rest.ts";

/** Twilio's REST API with an account's credentials; errors as in https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions. */
export function twilioRest(account: { baseUrl: string; accountSid: string; authToken: string }): CarrierRest {
  return carrierRest({
    carrier: "Twilio",
    baseUrl: account.baseUrl,
    authorization: basicAuth(account.accountSid, account.authToken),
    reasonOf: ({ code, message }) => ({
      code: typeof code === "number" ? String(code) : undefined,
      words: typeof message === "string" ? message : undefined,
    }),
  });
}
