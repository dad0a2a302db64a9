import type { JsonObject } from "@parley/shared/json/json-object";
import { ApiError, invalid, missing } from "../openai-api.ts";

export interface SpeechRequest {
  text: string;
  voice: FliteVoice;
  /** 0.25 to 4. */
  speed: number;
}

/** Voices of flite; PocketSphinx understands `kal16` best. */
const FLITE_VOICES = ["slt", "rms", "awb", "kal16"] as const;
type FliteVoice = (typeof FLITE_VOICES)[number];

/** OpenAI's limit for a text, in characters. */
const TEXT_CHARACTERS_MAX = 4_096;

/** Parses the body of `POST /v1/audio/speech`. A voice that flite does not have is spoken by `slt`. @throws ApiError 400 */
export function readSpeechRequest({ input, voice, speed = 1, response_format: format }: JsonObject): SpeechRequest {
  if (input === undefined) throw missing("input", "Send the text to speak.");
  if (typeof input !== "string" || input.length > TEXT_CHARACTERS_MAX)
    throw invalid("input", `Send a string of at most ${TEXT_CHARACTERS_MAX} characters.`);
  if (typeof speed !== "number" || !(speed >= 0.25 && speed <= 4)) throw invalid("speed", "Use 0.25 to 4.");
  if (format !== undefined && format !== "wav") {
    throw new ApiError(
      400,
      "The stand-in speaks WAV only: set response_format to 'wav'.",
      "unsupported_format",
      "response_format",
    );
  }
  return { text: input, voice: FLITE_VOICES.find((name) => name === voice) ?? "slt", speed };
}
