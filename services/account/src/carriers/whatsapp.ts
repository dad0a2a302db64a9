import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { carrierRest } from "@parley/shared/carriers/rest";
import { invalid } from "@parley/shared/errors";
import type { CarrierAccount } from "./account.ts";

interface WhatsAppAccountSettings {
  baseUrl: string;
  phoneNumberId: string;
  accessToken: string;
  mobileNumber: string;
}

/** Codes of a token that is wrong, has expired or lacks permission (https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes). */
const TOKEN_CODES = ["0", "3", "10", "190"];

/** Meta's Graph API: https://developers.facebook.com/docs/graph-api/reference/whats-app-business-account-to-number-current-status/. */
export function whatsAppAccount({ baseUrl, ...account }: WhatsAppAccountSettings): CarrierAccount {
  const rest = carrierRest({
    carrier: "WhatsApp",
    baseUrl,
    authorization: `Bearer ${account.accessToken}`,
    reasonOf: ({ error }) => {
      const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
      return {
        code: typeof code === "number" ? String(code) : undefined,
        words: typeof message === "string" ? message : undefined,
      };
    },
  });
  return {
    verify: async (signal) => {
      const query = { fields: "display_phone_number" };
      const number = await rest.send("GET", `/${account.phoneNumberId}`, { query, signal }).catch(wrongCredentials);
      const shown = String(number.display_phone_number ?? "");
      if (shown !== "" && digitsOf(shown) !== digitsOf(account.mobileNumber))
        throw invalid("mobile_number", `mobile_number must be ${shown}, the number of this phone_number_id`);
    },
    numbers: null,
  };
}

function wrongCredentials(error: unknown): never {
  if (!(error instanceof CarrierRefusal)) throw error;
  const [field, what] =
    error.status === 401 || TOKEN_CODES.includes(error.code)
      ? ["access_token", "does not give access to this phone_number_id"]
      : ["phone_number_id", "is not a number that this access_token gives access to"];
  throw invalid(field, `${field} ${what} (${error.message})`);
}

/** Meta writes numbers with spaces and hyphens. */
function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}
