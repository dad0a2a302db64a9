import { CarrierRefusal, nullIfMissing } from "@parley/shared/carriers/errors";
import { digitsOf, plivoRest } from "@parley/shared/carriers/plivo";
import type { CarrierAnswer } from "@parley/shared/carriers/rest";
import { callbackUrl } from "@parley/shared/carriers/urls";
import { invalid } from "@parley/shared/errors";
import { type CarrierAccount, NUMBERS_MAX } from "./account.ts";

interface PlivoAccountSettings {
  baseUrl: string;
  /** PARLEY_PUBLIC_URL. */
  publicUrl: string;
  carrierId: string;
  authId: string;
  authToken: string;
}

/** The most numbers that Plivo returns at once. */
const PAGE = 20;
const PAGES_MAX = NUMBERS_MAX / PAGE;

/**
 * Plivo's REST API: https://www.plivo.com/docs/account/api/account/, https://www.plivo.com/docs/numbers/api/account-phone-number/ and
 * https://www.plivo.com/docs/account/api/application/. A number's calls go to an application, so each imported number gets one of its
 * own, which goes when the number is removed.
 */
export function plivoAccount(settings: PlivoAccountSettings): CarrierAccount {
  const { publicUrl, carrierId, authId } = settings;
  const rest = plivoRest(settings);
  const account = `/v1/Account/${authId}`;
  const answerUrl = callbackUrl(publicUrl, "plivo", carrierId, "answer");

  const findNumber = async (mobileNumber: string, signal?: AbortSignal): Promise<CarrierAnswer | null> =>
    rest.send("GET", `${account}/Number/${digitsOf(mobileNumber)}/`, { signal }).catch(nullIfMissing);
  /** The id of the application if it is ours. */
  const ourApplication = async (number: CarrierAnswer, signal?: AbortSignal): Promise<string | null> => {
    const id = applicationOf(number);
    if (id === "") return null;
    const application = await rest.send("GET", `${account}/Application/${id}/`, { signal }).catch(nullIfMissing);
    return application?.answer_url === answerUrl ? id : null;
  };
  const assign = (mobileNumber: string, appId: string, signal?: AbortSignal) =>
    rest.send("POST", `${account}/Number/${digitsOf(mobileNumber)}/`, { json: { app_id: appId }, signal });

  return {
    verify: async (signal) => {
      await rest.send("GET", `${account}/`, { signal }).catch(wrongCredentials);
    },
    numbers: {
      list: async (signal) => {
        const all: CarrierAnswer[] = [];
        for (let page = 0; page < PAGES_MAX; page++) {
          const query = { limit: String(PAGE), offset: String(page * PAGE) };
          const { objects, meta } = await rest.send("GET", `${account}/Number/`, { query, signal });
          if (Array.isArray(objects)) all.push(...objects);
          if (!Array.isArray(objects) || objects.length < PAGE || !(meta as { next?: unknown } | undefined)?.next)
            break;
        }
        return all.map(({ number, alias, voice_enabled }) => ({
          mobileNumber: `+${number}`,
          name: typeof alias === "string" ? alias : "",
          takesCalls: voice_enabled === true,
        }));
      },
      find: async (mobileNumber, signal) => {
        const number = await findNumber(mobileNumber, signal);
        if (!number) return null;
        return (await ourApplication(number, signal)) === null ? { app_id: applicationOf(number) } : {};
      },
      point: async (mobileNumber, signal) => {
        const number = await findNumber(mobileNumber, signal);
        if (!number) throw new CarrierRefusal("404", `The account does not have ${mobileNumber}`, 404);
        if ((await ourApplication(number, signal)) !== null) return;
        const application = {
          app_name: `parley-${digitsOf(mobileNumber)}-${crypto.randomUUID().slice(0, 8)}`,
          answer_url: answerUrl,
          answer_method: "POST",
          hangup_url: callbackUrl(publicUrl, "plivo", carrierId, "hangup"),
          hangup_method: "POST",
        };
        const { app_id } = await rest.send("POST", `${account}/Application/`, { json: application, signal });
        await assign(mobileNumber, String(app_id), signal);
      },
      restore: async (mobileNumber, before) => {
        const number = await findNumber(mobileNumber);
        const ours = number && (await ourApplication(number));
        if (ours === null) return;
        await assign(mobileNumber, before.app_id ?? "");
        // By default Plivo would delete the endpoints of an application with it; ours has none.
        await rest.send("DELETE", `${account}/Application/${ours}/`, { json: { cascade: false } }).catch(nullIfMissing);
      },
    },
  };
}

/** From `/v1/Account/MA…/Application/123/`; "" for none. */
function applicationOf({ application }: CarrierAnswer): string {
  return /\/Application\/([^/]+)\/?$/.exec(String(application ?? ""))?.[1] ?? "";
}

/** Plivo answers 401 for both, and 404 for an account of a form that it does not know. */
function wrongCredentials(error: unknown): never {
  if (!(error instanceof CarrierRefusal)) throw error;
  if (error.status === 404) throw invalid("auth_id", `auth_id belongs to no Plivo account (${error.message})`);
  if (error.status === 401)
    throw invalid("auth_token", `auth_token is not the token of this auth_id: Plivo refuses it (${error.message})`);
  throw error;
}
