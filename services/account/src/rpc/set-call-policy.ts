import { invalid } from "@parley/shared/errors";
import { isSupportedCountry } from "libphonenumber-js/max";
import type { AccountContext, Handler } from "../context.ts";
import { findCallPolicy, storeCallPolicy } from "../store/call-policies.ts";
import { lockOwner } from "../store/owners.ts";
import { callPolicyOf } from "./get-call-policy.ts";

/** Fields left out stay unchanged. */
export function setCallPolicy(ctx: AccountContext): Handler<"setCallPolicy"> {
  return async ({ ownerId, countries, callsPerDay, minutesPerDay }) => {
    const wrong = countries?.codes.find((code) => !isSupportedCountry(code));
    if (wrong !== undefined)
      throw invalid("countries", `countries must be ISO 3166-1 codes such as US and DE, not ${JSON.stringify(wrong)}`);
    for (const [path, value] of Object.entries({ calls_per_day: callsPerDay, minutes_per_day: minutesPerDay }))
      if (value !== undefined && value < 0) throw invalid(path, `${path} must be 0 or more`);
    return ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const current = await findCallPolicy(tx, ownerId);
      await storeCallPolicy(tx, ownerId, {
        countries: countries ? (countries.codes.length > 0 ? countries.codes : null) : current.countries,
        callsPerDay: callsPerDay ?? current.callsPerDay,
        minutesPerDay: minutesPerDay ?? current.minutesPerDay,
      });
      return { policy: await callPolicyOf(ctx, tx, ownerId) };
    });
  };
}
