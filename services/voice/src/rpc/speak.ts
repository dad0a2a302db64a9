import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { VoiceContext } from "../context.ts";

export function speak(ctx: VoiceContext): NonNullable<Handlers<typeof VoiceServiceService>["speak"]> {
  return async (note, { signal }) => ({ audio: Buffer.from(await ctx.voiceNotes.speak(note, signal)) });
}
