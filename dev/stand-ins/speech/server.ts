import { ApiError, readBody, render } from "../openai-api.ts";
import type { StandIn } from "../serve.ts";
import { openRecognizer, type Recognizer } from "./recognizer.ts";
import { readSpeechRequest, type SpeechRequest } from "./speech-request.ts";
import { openSynthesizer, type Synthesizer } from "./synthesizer.ts";
import { readTranscriptionRequest } from "./transcription-request.ts";
import { wavHeader } from "./wav.ts";

interface SpeechOptions {
  /** 0, the default, takes any free port. */
  port?: number;
}

/** Two minutes of audio. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Serves OpenAI's two audio routes below `/v1`: text to speech by flite, and speech to text by PocketSphinx where it is installed. Both work in
 * threads of their own, because a frame of audio can take PocketSphinx a tenth of a second.
 * @throws when the port is taken
 */
export function startSpeech({ port = 0 }: SpeechOptions = {}): StandIn {
  const synthesizer = openSynthesizer();
  const recognizer = openRecognizer();
  const server = Bun.serve({
    port,
    // It has no authentication.
    hostname: "127.0.0.1",
    idleTimeout: 255,
    maxRequestBodySize: BODY_BYTES_MAX,
    routes: {
      "/healthz": { GET: () => Response.json({ status: "ok" }) },
      "/v1/audio/speech": {
        POST: async (request) => {
          // A call begins with a greeting, and while it is heard there is time.
          recognizer.warm();
          return speak(readSpeechRequest(await readBody(request)), synthesizer);
        },
      },
      "/v1/audio/transcriptions": { POST: (request) => transcribe(request, recognizer) },
    },
    fetch: ({ method, url }) => {
      const known = "POST /v1/audio/speech, POST /v1/audio/transcriptions";
      const message = `Unknown route ${method} ${new URL(url).pathname}. There is ${known}.`;
      return render(new ApiError(404, message, "unknown_url"));
    },
    error: render,
  });
  return {
    url: server.url.origin,
    stop: async () => {
      await server.stop(true);
      synthesizer.close();
      recognizer.close();
    },
  };
}

/** A WAV stream: each sentence is sent as soon as it is spoken. */
function speak(request: SpeechRequest, synthesizer: Synthesizer): Response {
  const sentences = synthesizer.speak(request);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(wavHeader()),
    pull: async (controller) => {
      const { done, value } = await sentences.next();
      if (done) return controller.close();
      controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    },
    cancel: async () => void (await sentences.return(undefined)),
  });
  return new Response(body, { headers: { "content-type": "audio/wav" } });
}

async function transcribe(request: Request, recognizer: Recognizer): Promise<Response> {
  const { audio, format } = await readTranscriptionRequest(request);
  const text = await recognizer.hear(audio, request.signal);
  return format === "text" ? new Response(`${text}\n`) : Response.json({ text });
}
