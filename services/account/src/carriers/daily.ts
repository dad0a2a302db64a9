import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { carrierRest } from "@parley/shared/carriers/rest";
import { invalid } from "@parley/shared/errors";
import type { CarrierAccount } from "./account.ts";

/** Daily's REST API, `GET /` of which returns the domain's configuration: https://docs.daily.co/reference/rest-api/your-domain/config. */
export function dailyAccount({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): CarrierAccount {
  const rest = carrierRest({
    carrier: "Daily",
    baseUrl,
    authorization: `Bearer ${apiKey}`,
    reasonOf: ({ error, info }) => ({
      code: typeof error === "string" ? error : undefined,
      words: typeof info === "string" ? info : undefined,
    }),
  });
  return {
    verify: async (signal) => {
      await rest.send("GET", "/", { signal }).catch((error) => {
        if (!(error instanceof CarrierRefusal)) throw error;
        throw invalid("api_key", `api_key belongs to no Daily domain: Daily refuses it (${error.message})`);
      });
    },
    numbers: null,
  };
}
