import type { Handler } from "../feature.ts";
import type { SpokenNotes } from "../voice-notes/notes.ts";

export function speak(notes: SpokenNotes): Handler<"speak"> {
  return async (note, { signal }) => ({ audio: Buffer.from(await notes.speak(note, signal)) });
}
