import { registered } from "@parley/shared/rpc/registration";
import type { VoiceFeature } from "../feature.ts";
import { getSpeechSetup } from "../rpc/get-speech-setup.ts";
import { speak } from "../rpc/speak.ts";
import { transcribe } from "../rpc/transcribe.ts";
import { type NotesOptions, spokenNotes } from "./notes.ts";

/** Speech outside of calls. */
export function voiceNotes(options: NotesOptions) {
  const notes = spokenNotes(options);
  return {
    handlers: {
      // These last as long as a provider takes, and the owner's other calls must not wait for them.
      transcribe: registered(transcribe(notes), { hasOwnShares: true }),
      speak: registered(speak(notes), { hasOwnShares: true }),
      getSpeechSetup: getSpeechSetup(options.speech),
    },
  } satisfies VoiceFeature;
}
