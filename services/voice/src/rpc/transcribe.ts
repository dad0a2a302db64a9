import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { VoiceContext } from "../context.ts";

export function transcribe(ctx: VoiceContext): NonNullable<Handlers<typeof VoiceServiceService>["transcribe"]> {
  return async (note, { signal }) => ({ text: await ctx.voiceNotes.transcribe(note, signal) });
}
