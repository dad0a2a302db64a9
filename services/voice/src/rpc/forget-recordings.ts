import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { isUuid } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { VoiceContext } from "../context.ts";

type Handler = NonNullable<Handlers<typeof VoiceServiceService>["forgetRecordings"]>;

/** Deletes the recordings of conversations that are deleted (docs/api-reference.md#retention). */
export function forgetRecordings(ctx: VoiceContext): Handler {
  return async ({ ownerId, conversationIds }) => {
    await ctx.recordings.remove(ownerId, conversationIds.filter(isUuid));
    return {};
  };
}
