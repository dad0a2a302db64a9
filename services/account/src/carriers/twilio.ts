import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { twilioRest } from "@parley/shared/carriers/twilio";
import { callbackUrl } from "@parley/shared/carriers/urls";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { NumberSettings } from "../store/mobile-numbers.ts";
import { type CarrierAccount, NUMBERS_MAX } from "./account.ts";

interface TwilioAccountSettings {
  baseUrl: string;
  /** PARLEY_PUBLIC_URL. */
  publicUrl: string;
  carrierId: string;
  accountSid: string;
  authToken: string;
}

/** A page of IncomingPhoneNumbers has at most this many. */
const PAGE_MAX = 1_000;

/**
 * Twilio's REST API: https://www.twilio.com/docs/iam/api/account and
 * https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource.
 */
export function twilioAccount(settings: TwilioAccountSettings): CarrierAccount {
  const { publicUrl, carrierId, accountSid } = settings;
  const rest = twilioRest(settings);
  const account = `/2010-04-01/Accounts/${accountSid}`;
  const voiceUrl = callbackUrl(publicUrl, "twilio", carrierId, "voice");
  const isOurs = (number: TwilioNumber) => number.voice_url === voiceUrl && !number.trunk_sid;

  const findNumber = async (mobileNumber: string, signal?: AbortSignal): Promise<TwilioNumber | null> => {
    const query = { PhoneNumber: mobileNumber };
    const answer = await rest.send("GET", `${account}/IncomingPhoneNumbers.json`, { query, signal });
    return numbersOf(answer).find(({ phone_number }) => phone_number === mobileNumber) ?? null;
  };
  const change = (number: TwilioNumber, form: Record<string, string>, signal?: AbortSignal) =>
    rest.send("POST", `${account}/IncomingPhoneNumbers/${number.sid}.json`, { form, signal });

  return {
    verify: async (signal) => {
      const { status } = await rest.send("GET", `${account}.json`, { signal }).catch(wrongCredentials);
      if (status !== "active")
        throw new ServiceError("condition", `The Twilio account is ${status}: it must be active`);
    },
    numbers: {
      list: async (signal) => {
        const query = { PageSize: String(PAGE_MAX) };
        const answer = await rest.send("GET", `${account}/IncomingPhoneNumbers.json`, { query, signal });
        return numbersOf(answer)
          .slice(0, NUMBERS_MAX)
          .map(({ phone_number, friendly_name, capabilities }) => ({
            mobileNumber: phone_number,
            name: friendly_name ?? "",
            takesCalls: capabilities?.voice ?? false,
          }));
      },
      find: async (mobileNumber, signal) => {
        const number = await findNumber(mobileNumber, signal);
        if (!number || isOurs(number)) return number && {};
        return Object.fromEntries(KEPT.map(({ field, form }) => [form, String(number[field] ?? "")]));
      },
      point: async (mobileNumber, signal) => {
        const number = await findNumber(mobileNumber, signal);
        if (!number) throw new CarrierRefusal("404", `The account does not have ${mobileNumber}`, 404);
        if (isOurs(number)) return;
        const form = {
          VoiceUrl: voiceUrl,
          VoiceMethod: "POST",
          VoiceFallbackUrl: "",
          StatusCallback: callbackUrl(publicUrl, "twilio", carrierId, "status"),
          StatusCallbackMethod: "POST",
          // Twilio ignores the voice URL of a number that has one of these.
          ...(number.voice_application_sid && { VoiceApplicationSid: "" }),
          ...(number.trunk_sid && { TrunkSid: "" }),
        };
        await change(number, form, signal);
      },
      restore: async (mobileNumber, before) => {
        const number = await findNumber(mobileNumber);
        if (!number || !isOurs(number)) return;
        await change(number, restoring(before));
      },
    },
  };
}

interface TwilioNumber {
  sid: string;
  phone_number: string;
  friendly_name?: string | null;
  capabilities?: { voice?: boolean } | null;
  voice_url?: string | null;
  voice_method?: string | null;
  voice_fallback_url?: string | null;
  voice_fallback_method?: string | null;
  voice_application_sid?: string | null;
  trunk_sid?: string | null;
  status_callback?: string | null;
  status_callback_method?: string | null;
}

/** The settings that are kept of a number: the answer's field, and the parameter that sets it. */
const KEPT = [
  { field: "voice_url", form: "VoiceUrl" },
  { field: "voice_method", form: "VoiceMethod" },
  { field: "voice_fallback_url", form: "VoiceFallbackUrl" },
  { field: "voice_fallback_method", form: "VoiceFallbackMethod" },
  { field: "status_callback", form: "StatusCallback" },
  { field: "status_callback_method", form: "StatusCallbackMethod" },
  { field: "voice_application_sid", form: "VoiceApplicationSid" },
  { field: "trunk_sid", form: "TrunkSid" },
] as const;

function restoring(before: NumberSettings): Record<string, string> {
  const form: Record<string, string> = { VoiceUrl: "", StatusCallback: "" };
  for (const { form: name } of KEPT) {
    const value = before[name] ?? "";
    // An empty URL clears what is there, but Twilio refuses an empty method.
    if (value !== "" || name.endsWith("Url")) form[name] = value;
  }
  return form;
}

function numbersOf(answer: Readonly<Record<string, unknown>>): TwilioNumber[] {
  const numbers = answer.incoming_phone_numbers;
  return Array.isArray(numbers) ? (numbers as TwilioNumber[]) : [];
}

/** Twilio says `invalid username` for a SID that it does not know, and only `Authenticate` for a token that is not that account's. */
function wrongCredentials(error: unknown): never {
  if (!(error instanceof CarrierRefusal)) throw error;
  if (error.status === 404 || error.words.includes("username"))
    throw invalid("account_sid", `account_sid belongs to no Twilio account (${error.message})`);
  if (error.status === 401)
    throw invalid(
      "auth_token",
      `auth_token is not the token of this account_sid: Twilio refuses it (${error.message})`,
    );
  throw error;
}
