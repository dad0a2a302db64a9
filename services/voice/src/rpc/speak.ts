import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { SpokenNotes } from "../voice-notes/notes.ts";

export function speak(notes: SpokenNotes): NonNullable<Handlers<typeof VoiceServiceService>["speak"]> {
  return async (note, { signal }) => ({ audio: Buffer.from(await notes.speak(note, signal)) });
}
