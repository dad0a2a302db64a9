import type { Handler } from "../feature.ts";
import type { SpokenNotes } from "../voice-notes/notes.ts";

export function transcribe(notes: SpokenNotes): Handler<"transcribe"> {
  return async (note, { signal }) => ({ text: await notes.transcribe(note, signal) });
}
