import { isObject } from "@parley/shared/json/json-object";
import type { Pcm } from "../../audio/pcm.ts";
import { wavReader } from "../../audio/wav.ts";
import type { Access } from "../access.ts";
import { bytesIn } from "../json.ts";
import type { SpeakOptions, TextToSpeech } from "../tts.ts";
import { checkResponse, httpSpeaker } from "./http-speaker.ts";
import { reply } from "./reply.ts";

/**
 * Cloud Text-to-Speech, by docs.cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize: a request for each piece, since
 * Google streams speech over gRPC only.
 */
export function googleTextToSpeech(access: Access): TextToSpeech {
  return {
    speak: (options, spoken) =>
      reply(
        access,
        (events) => httpSpeaker(access, (text, signal) => synthesize(access, options, text, signal), events),
        options,
        spoken,
      ),
  };
}

async function* synthesize(
  access: Access,
  { model, voiceId, language, speed }: SpeakOptions,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<Pcm> {
  const response = await fetch(`${access.baseUrl}/text:synthesize`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": access.apiKey },
    body: JSON.stringify({
      input: { text },
      voice: {
        languageCode: languageOf(voiceId) ?? language ?? "en-US",
        name: voiceId,
        // The other models are part of their voices' names.
        ...(model?.startsWith("gemini-") && { modelName: model }),
      },
      audioConfig: {
        audioEncoding: "LINEAR16",
        sampleRateHertz: 16_000,
        ...(speed !== undefined && { speakingRate: speed }),
      },
    }),
    signal,
  });
  await checkResponse(access, response);
  const answer: unknown = await response.json();
  const wav = isObject(answer) ? bytesIn(answer, "audioContent") : null;
  if (!wav) throw new Error("an answer without audio");
  yield wavReader()(wav);
}

/** A voice's name begins with its language, unless it speaks all of them. */
function languageOf(voiceId: string): string | undefined {
  return /^[a-z]{2,3}-[A-Z]{2}(?=-)/.exec(voiceId)?.[0];
}
