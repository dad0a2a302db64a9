import type { ApiKey, CallPolicy, MobileNumber, Session } from "@parley/proto/parley/account/v1/account.ts";
import { KEY_STATUSES, nameOf } from "../api-names.ts";
import { isoTime } from "./time.ts";

/** An API key as the management API and the command line show it. */
export function presentKey(key: ApiKey) {
  return {
    key_id: key.keyId,
    name: key.name || null,
    prefix: key.prefix,
    scopes: key.scopes,
    status: nameOf(KEY_STATUSES, key.status) ?? "unknown",
    expires_at: isoTime(key.expiresAt) ?? null,
    created_at: isoTime(key.createdAt) ?? null,
  };
}

/** The same with its last use. */
export function presentKeyWithUse(key: ApiKey) {
  return { ...presentKey(key), last_used_at: isoTime(key.lastUsedAt) ?? null };
}

/** A session of an owner who signed in. */
export function presentSession(session: Session) {
  return {
    session_id: session.sessionId,
    user_agent: session.userAgent || null,
    created_at: isoTime(session.createdAt) ?? null,
    last_used_at: isoTime(session.lastUsedAt) ?? null,
    expires_at: isoTime(session.expiresAt) ?? null,
  };
}

/** A phone number as the APIs and the command line show it. */
export function presentNumber({ mobileNumber, telephonyProvider }: MobileNumber) {
  return { mobile_number: mobileNumber, telephony_provider: telephonyProvider };
}

/** A phone number as its owner sees it. */
export function presentOwnNumber(number: MobileNumber) {
  return { ...presentNumber(number), carrier_id: number.carrierId ?? null };
}

/** The same with whether its owner has proven that it is theirs. */
export function presentProvenNumber(number: MobileNumber) {
  const state = number.replacedAt ? "REPLACED" : number.provenBy ? "PROVEN" : "UNPROVEN";
  return { ...presentOwnNumber(number), state, proven_by: number.provenBy ?? null, note: noteOf(number) };
}

/** What the owner should know about a number that several owners have claimed. */
function noteOf({ replacedAt, replacesAt }: MobileNumber): string | null {
  const day = (time: Date) => time.toISOString().slice(0, 10);
  if (replacedAt)
    return `On ${day(replacedAt)}, another owner proved that this number is theirs, so its calls do not reach your agents: remove it, or ask the operator`;
  return replacesAt ? `On ${day(replacesAt)}, your proof replaced another owner's claim of this number` : null;
}

/** What an owner's agents may call. */
export function presentCallPolicy({ countries, callsPerDay, minutesPerDay }: CallPolicy) {
  return { countries, calls_per_day: callsPerDay, minutes_per_day: minutesPerDay };
}
