import type { JsonObject } from "@parley/shared/json/json-object";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { pcmReader } from "../../audio/wav.ts";
import { type Access, baseLanguage, socketUrl } from "../access.ts";
import { bytesIn, objectIn } from "../json.ts";
import type { SpeakOptions, TextToSpeech } from "../tts.ts";
import { checkResponse, httpSpeaker } from "./http-speaker.ts";
import { reply, type SpeakerEvents } from "./reply.ts";
import { endingInSpace, type SpeakerDialect, socketSpeaker } from "./socket-speaker.ts";

const MODEL = "eleven_flash_v2_5";
/** Its own bounds. */
const SPEED_MIN = 0.7;
const SPEED_MAX = 1.2;

/** Others may not speak over WebSockets, as eleven_v3 does not. */
const SPEAKS_OVER_SOCKETS = /_v2(?:_5)?$/;

/**
 * By elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-stream-input, and by
 * elevenlabs.io/docs/api-reference/text-to-speech/stream with models that may not do that.
 */
export function elevenLabsTextToSpeech(access: Access): TextToSpeech {
  const open = (options: SpeakOptions, events: SpeakerEvents) =>
    SPEAKS_OVER_SOCKETS.test(options.model ?? MODEL)
      ? socketSpeaker(access, dialectOf(access, options), events)
      : httpSpeaker(access, (text, signal) => stream(access, options, text, signal), events);
  return { speak: (options, spoken) => reply(access, (events) => open(options, events), options, spoken) };
}

async function* stream(
  access: Access,
  { model, voiceId, language, speed }: SpeakOptions,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<Pcm> {
  const path = `/v1/text-to-speech/${encodeURIComponent(voiceId)}/stream?output_format=pcm_16000`;
  const response = await fetch(`${access.baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "xi-api-key": access.apiKey },
    body: JSON.stringify({
      text,
      model_id: model,
      ...(language !== undefined && { language_code: baseLanguage(language) }),
      ...settings(speed),
    }),
    signal,
  });
  await checkResponse(access, response);
  const read = pcmReader(SAMPLES_PER_SECOND);
  for await (const bytes of response.body ?? []) {
    const audio = read(bytes);
    if (audio.length > 0) yield audio;
  }
}

function settings(speed: number | undefined): object {
  return speed === undefined ? {} : { voice_settings: { speed: Math.min(Math.max(speed, SPEED_MIN), SPEED_MAX) } };
}

function dialectOf(access: Access, { model = MODEL, voiceId, language, speed }: SpeakOptions): SpeakerDialect {
  const read = pcmReader(SAMPLES_PER_SECOND);
  let startMs = 0;
  return {
    url: socketUrl(access, `/v1/text-to-speech/${encodeURIComponent(voiceId)}/stream-input`, {
      model_id: model,
      // These models detect it themselves, and refuse the setting.
      language_code: model.startsWith("eleven_multilingual") ? undefined : baseLanguage(language),
      output_format: "pcm_16000",
      // Pieces are sentences, so the provider need not collect them.
      auto_mode: "true",
      sync_alignment: "true",
    }),
    headers: { "xi-api-key": access.apiKey },
    begin: [{ text: " ", ...settings(speed) }],
    // Text must end with a space.
    say: (text) => [{ text: endingInSpace(text), flush: true }],
    end: () => [{ text: "" }],
    message: (message, events) => {
      if ("error" in message) return events.lost("it reported an error");
      const bytes = bytesIn(message, "audio");
      const audio = bytes && read(bytes);
      // The times count from the beginning of this message's audio.
      tellWords(objectIn(message, "alignment"), startMs, events);
      if (audio) {
        startMs += (audio.length / SAMPLES_PER_SECOND) * 1_000;
        events.audio(audio);
      }
      if (message.isFinal === true) events.done();
    },
  };
}

function tellWords(alignment: JsonObject, startMs: number, events: SpeakerEvents): void {
  const { chars, charStartTimesMs: starts, charDurationsMs: durations } = alignment;
  if (!Array.isArray(chars) || !Array.isArray(starts) || !Array.isArray(durations)) return;
  let word = "";
  for (const [at, character] of chars.entries()) {
    if (typeof character !== "string") return;
    word += character;
    const next = chars[at + 1];
    if (next !== undefined && next !== " ") continue;
    const endMs = Number(starts[at]) + Number(durations[at]);
    if (Number.isFinite(endMs)) events.word(word.trim(), startMs + endMs);
    word = "";
  }
}
