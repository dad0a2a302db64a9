import { timingSafeEqual } from "node:crypto";
import { invalid } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toMobileNumber } from "../convert.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { CODE_DIGITS, digestOfCode } from "../number-code.ts";
import { expireCode, tryCode } from "../store/number-codes.ts";
import { proveNumber } from "./prove-mobile-number.ts";

const TRIES_MAX = 5;

export function confirmCode(ctx: AccountContext): Handler<"confirmCode"> {
  return async ({ ownerId, mobileNumber, code }) => {
    checkMobileNumber(mobileNumber);
    const key = { ownerId, mobileNumber };
    const now = ctx.clock.now();
    // Outside of the transaction, so that a wrong one counts.
    const expected = new RegExp(`^\\d{${CODE_DIGITS}}$`).test(code)
      ? await tryCode(ctx.db, key, { now, triesMax: TRIES_MAX })
      : null;
    if (!expected || !timingSafeEqual(expected, digestOfCode({ ...key, code })))
      throw invalid("code", "code is wrong, was used or has expired: have the number called again");
    const row = await proveNumber(ctx, key, "CODE", (tx) => expireCode(tx, key, now));
    return { mobileNumber: toMobileNumber(row) };
  };
}
