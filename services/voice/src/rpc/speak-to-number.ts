import { asServiceError } from "@parley/shared/carriers/errors";
import { invalid } from "@parley/shared/errors";
import type { SpokenCalls } from "../carriers/callbacks/spoken-calls.ts";
import type { Handler } from "../feature.ts";

const SENTENCE_MAX = 500;

export function speakToNumber(ctx: {
  spoken: Pick<SpokenCalls, "begin">;
  /** The fault of a number to call; null if it has none. */
  numberFault(mobileNumber: string): string | null;
}): Handler<"speakToNumber"> {
  return async ({ ownerId, carrierId, fromMobileNumber: from, toMobileNumber: to, sentence }) => {
    const fault = ctx.numberFault(to);
    if (fault !== null) throw invalid("mobile_number", `mobile_number ${fault}`);
    if (sentence === "" || sentence.length > SENTENCE_MAX)
      throw invalid("sentence", `sentence must be 1 to ${SENTENCE_MAX} characters`);
    await ctx.spoken.begin({ ownerId, carrierId, sentence, from, to }).catch((error) => {
      throw asServiceError(error, "The carrier");
    });
    return {};
  };
}
