import { randomInt } from "node:crypto";
import { ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { CODE_DIGITS, digestOfCode } from "../number-code.ts";
import { listNumbers, lockNumber, type NumberRow } from "../store/mobile-numbers.ts";
import { countCodeCalls, storeCode } from "../store/number-codes.ts";
import { lockOwner } from "../store/owners.ts";

const VALID_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Calls of a day, which the operator pays for and which wake people up. */
const CALLS_MAX = { ofOwner: 10, atNumber: 5 };

/** The call is made from a number of the operator's: over the owner's own trunk, the owner could answer it at any number. */
export function callWithCode(ctx: AccountContext): Handler<"callWithCode"> {
  return async ({ ownerId, mobileNumber }) => {
    checkMobileNumber(mobileNumber);
    const line = await operatorsLine(ctx);
    const code = randomInt(10 ** CODE_DIGITS)
      .toString()
      .padStart(CODE_DIGITS, "0");
    const now = ctx.clock.now();
    const since = new Date(now.getTime() - DAY_MS);
    const expiresAt = new Date(now.getTime() + VALID_MS);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await lockNumber(tx, mobileNumber);
      const { ofOwner, atNumber } = await countCodeCalls(tx, { ownerId, mobileNumber }, since);
      if (ofOwner >= CALLS_MAX.ofOwner || atNumber >= CALLS_MAX.atNumber)
        throw new ServiceError("rate_limited", "Too many calls have told codes today: try again tomorrow", {
          retryAfterMs: DAY_MS,
        });
      const codeDigest = digestOfCode({ ownerId, mobileNumber, code });
      await storeCode(tx, { ownerId, mobileNumber, codeDigest, expiresAt }, { now, since });
    });
    const spoken = [...code].join(", ");
    await ctx.voices.speakToNumber({
      ownerId: line.ownerId,
      carrierId: line.carrierId,
      fromMobileNumber: line.mobileNumber,
      toMobileNumber: mobileNumber,
      sentence: `Your code is ${spoken}. Again, your code is ${spoken}. If you did not ask for it, tell it to nobody.`,
    });
    return { expiresAt };
  };
}

/** @throws ServiceError condition if the operator has not set one */
async function operatorsLine({ db, codeCallsOwnerId }: AccountContext): Promise<NumberRow & { carrierId: string }> {
  const numbers = codeCallsOwnerId === "" ? [] : await listNumbers(db, codeCallsOwnerId);
  const line = numbers.find(({ provenBy, replacedAt }) => provenBy === "CARRIER" && replacedAt === null);
  if (line?.carrierId) return { ...line, carrierId: line.carrierId };
  throw new ServiceError(
    "condition",
    "This installation makes no calls that tell codes: ask its operator to prove your number, or to set PARLEY_CODE_CALLS_OWNER",
  );
}
