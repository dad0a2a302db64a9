import type { Pcm } from "../../audio/pcm.ts";
import { pcmReader, wavReader } from "../../audio/wav.ts";
import type { Access } from "../access.ts";
import type { SpeakOptions, TextToSpeech } from "../tts.ts";
import { checkResponse, httpSpeaker } from "./http-speaker.ts";
import { reply } from "./reply.ts";

/** OpenAI's own samples have no header and come 24,000 a second (developers.openai.com/api/docs/guides/text-to-speech). */
const OPENAI_SAMPLES_PER_SECOND = 24_000;

/** Streamed HTTP, by developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create. */
export function openAiTextToSpeech(access: Access): TextToSpeech {
  const form = { name: "pcm", reader: () => pcmReader(OPENAI_SAMPLES_PER_SECOND) };
  return audioSpeech(access, { fetch, form, model: "gpt-4o-mini-tts" });
}

/** The same at a server of an owner's own, as WAV, whose rate is in its header. */
export function customTextToSpeech(access: Access, guardedFetch: typeof fetch): TextToSpeech {
  return audioSpeech(access, { fetch: guardedFetch, form: { name: "wav", reader: wavReader }, model: "tts-1" });
}

interface Form {
  name: string;
  reader(): (bytes: Uint8Array) => Pcm;
}

function audioSpeech(
  access: Access,
  { fetch: ask, form, model }: { fetch: typeof fetch; form: Form; model: string },
): TextToSpeech {
  async function* request(options: SpeakOptions, input: string, signal: AbortSignal): AsyncGenerator<Pcm> {
    const response = await ask(`${access.baseUrl}/audio/speech`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(access.apiKey !== "" && { authorization: `Bearer ${access.apiKey}` }),
      },
      body: JSON.stringify({
        model: options.model ?? model,
        input,
        voice: options.voiceId,
        response_format: form.name,
        ...(options.speed !== undefined && { speed: options.speed }),
      }),
      signal,
    });
    await checkResponse(access, response);
    const read = form.reader();
    for await (const bytes of response.body ?? []) {
      const audio = read(bytes);
      if (audio.length > 0) yield audio;
    }
  }
  return {
    speak: (options, spoken) =>
      reply(
        access,
        (events) => httpSpeaker(access, (text, signal) => request(options, text, signal), events),
        options,
        spoken,
      ),
  };
}
