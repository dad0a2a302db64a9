import type { JsonObject } from "@parley/shared/json/json-object";
import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { pcmReader } from "../../audio/wav.ts";
import { type Access, baseLanguage, refusal, socketUrl } from "../access.ts";
import { bytesIn, numberIn, objectIn } from "../json.ts";
import type { SpeakOptions, TextToSpeech } from "../tts.ts";
import { reply, type SpeakerEvents } from "./reply.ts";
import { endingInSpace, type SpeakerDialect, socketSpeaker } from "./socket-speaker.ts";

const MODEL = "sonic-3.5";
const VERSION = "2025-11-04";
const SPEED_MIN = 0.6;
const SPEED_MAX = 1.5;

/** By docs.cartesia.ai/api-reference/tts/websocket and docs.cartesia.ai/use-the-api/tts-websocket/contexts. */
export function cartesiaTextToSpeech(access: Access): TextToSpeech {
  return {
    speak: (options, spoken) =>
      reply(access, (events) => socketSpeaker(access, dialectOf(access, options), events), options, spoken),
  };
}

function dialectOf(access: Access, { model = MODEL, voiceId, language, speed }: SpeakOptions): SpeakerDialect {
  const read = pcmReader(SAMPLES_PER_SECOND);
  const contextId = crypto.randomUUID();
  // All inputs of a context must agree in everything but the text.
  const common = {
    context_id: contextId,
    model_id: model,
    voice: { mode: "id", id: voiceId },
    output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: SAMPLES_PER_SECOND },
    add_timestamps: true,
    // Pieces are sentences, so the provider need not collect them.
    max_buffer_delay_ms: 0,
    ...(language !== undefined && { language: baseLanguage(language) }),
    ...(speed !== undefined && { generation_config: { speed: Math.min(Math.max(speed, SPEED_MIN), SPEED_MAX) } }),
  };
  return {
    url: socketUrl(access, "/tts/websocket", { cartesia_version: VERSION }),
    headers: { authorization: `Bearer ${access.apiKey}`, "cartesia-version": VERSION },
    say: (text) => [{ ...common, transcript: endingInSpace(text), continue: true }],
    end: () => [{ ...common, transcript: "", continue: false }],
    cancel: { context_id: contextId, cancel: true },
    message: (message, events) => {
      if (message.type === "error") return tellError(access, message, events);
      if (message.type === "timestamps") return tellWords(objectIn(message, "word_timestamps"), events);
      const bytes = message.type === "chunk" ? bytesIn(message, "data") : null;
      if (bytes) events.audio(read(bytes));
      if (message.type === "done") events.done();
    },
  };
}

function tellError(access: Access, message: JsonObject, events: SpeakerEvents): void {
  const refused = refusal(access, numberIn(message, "status_code") ?? 0);
  if (refused) events.refused(refused);
  else events.lost("it reported an error");
}

function tellWords({ words, end }: JsonObject, events: SpeakerEvents): void {
  if (!Array.isArray(words) || !Array.isArray(end)) return;
  for (const [at, word] of words.entries()) {
    const endSeconds = Number(end[at]);
    if (typeof word === "string" && Number.isFinite(endSeconds)) events.word(word, endSeconds * 1_000);
  }
}
