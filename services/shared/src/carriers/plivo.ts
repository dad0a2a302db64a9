import { basicAuth, type CarrierRest, carrierRest } from "./rest.ts";

/** Plivo's REST API with an account's credentials (https://www.plivo.com/docs/voice/api/overview/). */
export function plivoRest(account: { baseUrl: string; authId: string; authToken: string }): CarrierRest {
  return carrierRest({
    carrier: "Plivo",
    baseUrl: account.baseUrl,
    authorization: basicAuth(account.authId, account.authToken),
    reasonOf: ({ error }) => ({ words: typeof error === "string" ? error : undefined }),
  });
}

/** Plivo writes numbers without the plus. */
export function digitsOf(mobileNumber: string): string {
  return mobileNumber.replace(/^\+/, "");
}
