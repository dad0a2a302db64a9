import { dailyRest } from "@parley/shared/carriers/daily";
import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { invalid } from "@parley/shared/errors";
import type { CarrierAccount } from "./account.ts";

/** Daily's REST API, `GET /` of which returns the domain's configuration: https://docs.daily.co/reference/rest-api/your-domain/config. */
export function dailyAccount({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): CarrierAccount {
  const rest = dailyRest({ baseUrl, apiKey });
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
