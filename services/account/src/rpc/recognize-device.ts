import type { AccountContext, Handler } from "../context.ts";
import { isDeviceToken } from "../sign-in/device.ts";
import { findPasswordByEmail } from "../store/passwords.ts";
import { checkEmail } from "../text-rules.ts";

/** The caller counts the sign-in attempts of such a device apart, so that strangers' attempts do not lock its owner out. */
export function recognizeDevice(ctx: AccountContext): Handler<"recognizeDevice"> {
  return async ({ email, deviceToken }) => {
    checkEmail(email);
    const known = await findPasswordByEmail(ctx.db, email);
    return { isKnown: known !== null && isDeviceToken(deviceToken, known) };
  };
}
