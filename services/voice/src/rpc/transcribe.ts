import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { SpokenNotes } from "../voice-notes/notes.ts";

export function transcribe(notes: SpokenNotes): NonNullable<Handlers<typeof VoiceServiceService>["transcribe"]> {
  return async (note, { signal }) => ({ text: await notes.transcribe(note, signal) });
}
