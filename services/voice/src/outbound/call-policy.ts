import type { CallPolicy } from "@parley/proto/parley/account/v1/account.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { counter } from "@parley/shared/telemetry/instruments";
import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { TRANSFER_SECONDS_MAX } from "../carriers/documents.ts";
import { addCallUsage, dayOf, findCallUsage } from "../store/call-usage.ts";

/** What an owner's agents may call, and how much of it in a UTC day. */
export interface CallPolicies {
  of(ownerId: string): Promise<CallPolicy>;
  /** Why the owner's agents may call nobody more today; null if they may. */
  spent(ownerId: string, policy: CallPolicy): Promise<string | null>;
  /**
   * Counts a transfer as a call of the longest time that it may last at a carrier, because Parley may not hear of its end.
   * @throws ServiceError condition if it is not allowed
   */
  transferring(ownerId: string, to: string): Promise<void>;
  /** Counts what a transfer that Parley has heard the end of has lasted beyond that. */
  transferred(ownerId: string, seconds: number): Promise<void>;
}

const LIMITS = ["calls", "minutes"] as const;
const refused = counter(
  "parley.calls.beyond_policy",
  "Calls and transfers that were refused because of a limit of the day",
);

export function callPolicies(options: {
  db: Database;
  clock: Clock;
  log: Logger;
  policyOf(ownerId: string): Promise<CallPolicy>;
}): CallPolicies {
  const { db, clock, log, policyOf } = options;
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  for (const limit of LIMITS) refused().add(0, { limit });
  const beyond = (ownerId: string, limit: (typeof LIMITS)[number]) => {
    refused().add(1, { limit });
    log.warn({ owner_id: ownerId, limit }, "a call was refused by its owner's policy");
  };
  const spent: CallPolicies["spent"] = async (ownerId, { callsPerDay, minutesPerDay }) => {
    const { calls, seconds } = await findCallUsage(db, ownerId, dayOf(clock.now()));
    const limit = calls >= callsPerDay ? "calls" : seconds >= minutesPerDay * 60 ? "minutes" : null;
    if (limit === null) return null;
    beyond(ownerId, limit);
    const many = limit === "calls" ? `${callsPerDay} calls` : `${minutesPerDay} minutes of calls`;
    return `The account's agents have made their ${many} of the UTC day: its operator can allow more`;
  };
  return {
    of: policyOf,
    spent,
    transferring: async (ownerId, to) => {
      const policy = await policyOf(ownerId);
      const reason = countryFault(to, policy) ?? (await spent(ownerId, policy));
      if (reason !== null) throw new ServiceError("condition", `The call is not transferred to ${to}: ${reason}`);
      await addCallUsage(db, ownerId, dayOf(clock.now()), { calls: 1, seconds: TRANSFER_SECONDS_MAX });
    },
    transferred: async (ownerId, seconds) => {
      const beyond = seconds - TRANSFER_SECONDS_MAX;
      if (beyond > 0) await addCallUsage(db, ownerId, dayOf(clock.now()), { calls: 0, seconds: beyond });
    },
  };
}

/** Why a number in E.164 form may not be called because of its country; null if it may. */
export function countryFault(mobileNumber: string, { countries }: Pick<CallPolicy, "countries">): string | null {
  const number = parsePhoneNumberFromString(mobileNumber);
  const isAllowed = number?.country
    ? countries.includes(number.country)
    : // Numbers that several countries share, such as toll-free ones of +1.
      countries.some((each) => isSupportedCountry(each) && getCountryCallingCode(each) === number?.countryCallingCode);
  if (isAllowed) return null;
  const allowed =
    countries.length > 0 ? `only numbers of ${countries.join(", ")} may be called` : "no country may be called";
  return `it is a number of ${number?.country ?? "another country"}, and ${allowed}; the operator can allow more countries`;
}
