import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { countDoNotCall, findListed, insertDoNotCall } from "../store/do-not-call.ts";

const E164 = /^\+[1-9]\d{6,14}$/;
const NUMBERS_MAX = 1_000_000;

/** @param numbersMax numbers that the list of an owner may have */
export function addDoNotCall(
  ctx: Pick<OutboundContext, "db" | "clock">,
  numbersMax = NUMBERS_MAX,
): NonNullable<Handlers<typeof VoiceServiceService>["addDoNotCall"]> {
  return async ({ ownerId, mobileNumber }) => {
    if (!E164.test(mobileNumber))
      throw invalid("mobile_number", "mobile_number must be a phone number in E.164 form, such as +14155550123");
    const listed = await findListed(ctx.db, ownerId, mobileNumber);
    if (listed) return { number: listed };
    if ((await countDoNotCall(ctx.db, ownerId)) >= numbersMax)
      throw new ServiceError(
        "condition",
        `The do-not-call list has ${numbersMax} numbers, which is its limit: remove one first`,
      );
    return { number: await insertDoNotCall(ctx.db, ownerId, mobileNumber, ctx.clock.now()) };
  };
}
