import { type CarrierRest, carrierRest } from "./rest.ts";

/** Daily's REST API with a domain's key; errors as in https://docs.daily.co/docs/rest-api/errors. */
export function dailyRest({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): CarrierRest {
  return carrierRest({
    carrier: "Daily",
    baseUrl,
    authorization: `Bearer ${apiKey}`,
    reasonOf: ({ error, info }) => ({
      code: typeof error === "string" ? error : undefined,
      words: typeof info === "string" ? info : undefined,
    }),
  });
}
