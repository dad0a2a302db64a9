import { pcmBytes, wavFile } from "../src/audio/wav.ts";
import type { Connection, SpeechServer } from "./speech-server.ts";

/** What a scripted provider does wrong, with the first attempt only. */
export type Fault = "none" | "lost" | "stalled" | "error" | "malformed";

/** A text-to-speech provider as its documentation has it. Its audio spells the text: see `audioOf`. */
export interface TtsProvider {
  config: { providerName: string; modelName: string | undefined; voiceId: string };
  key: string;
  address: string;
  timings: boolean;
  /** What the first request must be. */
  expected: { path: string; query?: Record<string, string>; headers: Record<string, string>; body?: object };
  /** Makes the server this provider. */
  play(server: SpeechServer, fault: Fault): void;
}

const SAMPLES_PER_CHARACTER = 160;

/** Ten milliseconds of a level for each character. */
export function audioOf(text: string, rate = 16_000): Int16Array {
  const samples = (SAMPLES_PER_CHARACTER * rate) / 16_000;
  return Int16Array.from({ length: text.length * samples }, (_, at) => text.charCodeAt(Math.floor(at / samples)) * 100);
}

export function textOf(audio: Int16Array): string {
  const characters = Math.floor(audio.length / SAMPLES_PER_CHARACTER);
  const level = (at: number) => audio[at * SAMPLES_PER_CHARACTER + SAMPLES_PER_CHARACTER / 2 + 30] ?? 0;
  return String.fromCharCode(...Array.from({ length: characters }, (_, at) => Math.round(level(at) / 100)));
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const halves = (text: string) => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))];

type Frame = object | string | Uint8Array;

interface SocketScript {
  /** The text in a message of the client. */
  said(message: Record<string, unknown>): string;
  /** Frames with the audio of a part of what was said; `from` is its first character's place. */
  audio(part: string, from: number): Frame[];
  /** After each message of the client. */
  after(message: Record<string, unknown>, isFirst: boolean): Frame[];
  error: Frame;
  malformed: Frame[];
}

/** Speaks each text in two frames; the fault comes between those of the second text. */
function socketProvider(script: SocketScript): TtsProvider["play"] {
  return (server, fault) => {
    server.onMessage = (connection, message) => {
      const isFirst = server.connections.length === 1;
      const text = script.said(message);
      const spoken = spokenBy.get(connection) ?? { pieces: 0, characters: 0 };
      spokenBy.set(connection, spoken);
      const send = (frames: Frame[]) => {
        for (const frame of frames) connection.send(frame);
      };
      if (text !== "") {
        spoken.pieces++;
        const isFaulty = isFirst && spoken.pieces === 2;
        const [first = "", second = ""] = halves(text);
        send(script.audio(first, spoken.characters));
        if (isFaulty && fault === "malformed") send(script.malformed);
        if (isFaulty && fault === "lost") return connection.drop();
        if (isFaulty && fault === "error") return send([script.error]);
        if (isFaulty && fault === "stalled") return void stalled.add(connection);
        send(script.audio(second, spoken.characters + first.length));
        spoken.characters += text.length;
      }
      if (!stalled.has(connection)) send(script.after(message, isFirst));
    };
  };
}

const spokenBy = new WeakMap<Connection, { pieces: number; characters: number }>();
const stalled = new WeakSet<Connection>();

interface HttpScript {
  said(body: Record<string, unknown>): string;
  /** The whole body of the answer. */
  body(text: string): Uint8Array;
  contentType: string;
  /** A body that makes no sense. */
  malformed: string;
}

/** The fault is in the answer to the second request. */
function httpProvider(script: HttpScript): TtsProvider["play"] {
  return (server, fault) => {
    server.onRequest = async (request) => {
      const text = script.said((await request.json()) as Record<string, unknown>);
      const bytes = script.body(text);
      const isFaulty = server.requests.length === 2;
      if (isFaulty && fault === "error") return Response.json({ error: { message: "Secret" } }, { status: 500 });
      if (isFaulty && fault === "malformed") return new Response(script.malformed);
      const body = new ReadableStream<Uint8Array>({
        start: async (controller) => {
          controller.enqueue(bytes.slice(0, bytes.length / 2));
          if (isFaulty && fault === "stalled") return;
          if (isFaulty && fault === "lost") return controller.error(new Error("lost"));
          controller.enqueue(bytes.slice(bytes.length / 2));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": script.contentType } });
    };
  };
}

const textField = (message: Record<string, unknown>, field: string) => String(message[field] ?? "");

export const TTS_PROVIDERS: Record<string, TtsProvider> = {
  ElevenLabs: {
    config: { providerName: "ELEVENLABS", modelName: "eleven_flash_v2_5", voiceId: "v/1" },
    key: "ELEVENLABS_API_KEY",
    address: "ELEVENLABS_BASE_URL",
    timings: true,
    expected: {
      path: "/v1/text-to-speech/v%2F1/stream-input",
      query: { model_id: "eleven_flash_v2_5", output_format: "pcm_16000", language_code: "en" },
      headers: { "xi-api-key": "the-key" },
      body: { text: " ", voice_settings: { speed: 1.1 } },
    },
    play: socketProvider({
      said: (message) => textField(message, "text").replace(/^ $/, ""),
      audio: (part) => [
        {
          audio: base64(pcmBytes(audioOf(part))),
          isFinal: null,
          alignment: {
            chars: [...part],
            charStartTimesMs: [...part].map((_, at) => at * 10),
            charDurationsMs: [...part].map(() => 10),
          },
          normalizedAlignment: null,
        },
      ],
      after: (message) => (message.text === "" ? [{ audio: null, isFinal: true }] : []),
      error: { message: "Secret", error: "input_timeout_exceeded", code: 1008 },
      malformed: [
        "no",
        "[]",
        { audio: 5, alignment: { chars: "x" } },
        { alignment: { chars: [1], charStartTimesMs: [], charDurationsMs: [] } },
      ],
    }),
  },
  "ElevenLabs over HTTP": {
    config: { providerName: "ELEVENLABS", modelName: "eleven_v3", voiceId: "v/1" },
    key: "ELEVENLABS_API_KEY",
    address: "ELEVENLABS_BASE_URL",
    timings: false,
    expected: {
      path: "/v1/text-to-speech/v%2F1/stream",
      query: { output_format: "pcm_16000" },
      headers: { "xi-api-key": "the-key" },
      body: { text: "Hello there. ", model_id: "eleven_v3", language_code: "en", voice_settings: { speed: 1.1 } },
    },
    play: httpProvider({
      said: ({ text }) => String(text),
      body: (text) => pcmBytes(audioOf(text)),
      contentType: "audio/pcm",
      malformed: "",
    }),
  },
  Cartesia: {
    config: { providerName: "CARTESIA", modelName: "sonic-3.5", voiceId: "v1" },
    key: "CARTESIA_API_KEY",
    address: "CARTESIA_BASE_URL",
    timings: true,
    expected: {
      path: "/tts/websocket",
      query: { cartesia_version: "2025-11-04" },
      headers: { authorization: "Bearer the-key" },
      body: {
        model_id: "sonic-3.5",
        voice: { mode: "id", id: "v1" },
        language: "en",
        transcript: "Hello there. ",
        continue: true,
        output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 16_000 },
        generation_config: { speed: 1.1 },
      },
    },
    play: socketProvider({
      said: (message) => textField(message, "transcript"),
      audio: (part, from) => [
        {
          type: "timestamps",
          done: false,
          status_code: 206,
          word_timestamps: {
            words: part.match(/\S+/g) ?? [],
            start: [],
            end: [...part.matchAll(/\S+/g)].map(({ 0: word, index }) => (from + index + word.length) / 100),
          },
        },
        { type: "chunk", data: base64(pcmBytes(audioOf(part))), done: false, status_code: 206, step_time: 1 },
      ],
      after: (message) => (message.continue === false ? [{ type: "done", done: true, status_code: 206 }] : []),
      error: { type: "error", done: true, title: "Secret", message: "Secret", status_code: 500 },
      malformed: [
        "no",
        "7",
        { type: "chunk" },
        { type: "timestamps", word_timestamps: { words: [1], end: ["x"] } },
        { type: "flush_done" },
      ],
    }),
  },
  "Deepgram Aura": {
    config: { providerName: "DEEPGRAM", modelName: "aura-2", voiceId: "aura-2-thalia-en" },
    key: "DEEPGRAM_API_KEY",
    address: "DEEPGRAM_BASE_URL",
    timings: false,
    expected: {
      path: "/v1/speak",
      query: { model: "aura-2-thalia-en", encoding: "linear16", sample_rate: "16000", speed: "1.1" },
      headers: { authorization: "Token the-key" },
      body: { type: "Speak", text: "Hello there. " },
    },
    play: socketProvider({
      said: (message) => textField(message, "text"),
      audio: (part) => [pcmBytes(audioOf(part))],
      after: ({ type }) => (type === "Flush" ? [{ type: "Flushed", sequence_id: 0 }] : []),
      error: { type: "Error", description: "Secret" },
      malformed: [
        "no",
        "null",
        { type: "Metadata", request_id: "r" },
        { type: "Warning", description: "d", code: "c" },
      ],
    }),
  },
  "Deepgram Flux": {
    config: { providerName: "DEEPGRAM", modelName: "flux", voiceId: "flux-haley-en" },
    key: "DEEPGRAM_API_KEY",
    address: "DEEPGRAM_BASE_URL",
    timings: false,
    expected: {
      path: "/v2/speak",
      query: { model: "flux-haley-en", encoding: "linear16", sample_rate: "16000", speed: "1.1" },
      headers: { authorization: "Token the-key" },
      body: { type: "Speak", text: "Hello there. " },
    },
    play: socketProvider({
      said: (message) => textField(message, "text"),
      audio: (part) => [pcmBytes(audioOf(part))],
      after: ({ type }) => (type === "Flush" ? [{ type: "SpeechMetadata", speech_id: "dg_sp_1" }] : []),
      error: { type: "Error", description: "Secret", code: "c" },
      malformed: ["no", "[1]", { type: "Connected", request_id: "r" }, { type: "SpeechStarted", speech_id: "dg_sp_1" }],
    }),
  },
  OpenAI: {
    config: { providerName: "OPENAI", modelName: undefined, voiceId: "alloy" },
    key: "OPENAI_API_KEY",
    address: "OPENAI_BASE_URL",
    timings: false,
    expected: {
      path: "/audio/speech",
      headers: { authorization: "Bearer the-key" },
      body: { model: "gpt-4o-mini-tts", input: "Hello there. ", voice: "alloy", response_format: "pcm", speed: 1.1 },
    },
    play: httpProvider({
      said: ({ input }) => String(input),
      body: (text) => pcmBytes(audioOf(text, 24_000)),
      contentType: "audio/pcm",
      malformed: "",
    }),
  },
  Google: {
    config: { providerName: "GOOGLE", modelName: "chirp3-hd", voiceId: "en-GB-Chirp3-HD-Kore" },
    key: "GOOGLE_API_KEY",
    address: "GOOGLE_TTS_BASE_URL",
    timings: false,
    expected: {
      path: "/text:synthesize",
      headers: { "x-goog-api-key": "the-key" },
      body: {
        input: { text: "Hello there. " },
        voice: { languageCode: "en-GB", name: "en-GB-Chirp3-HD-Kore" },
        audioConfig: { audioEncoding: "LINEAR16", sampleRateHertz: 16_000, speakingRate: 1.1 },
      },
    },
    play: httpProvider({
      said: ({ input }) => String((input as { text: string }).text),
      body: (text) => Buffer.from(JSON.stringify({ audioContent: base64(wavFile(audioOf(text))) })),
      contentType: "application/json",
      malformed: "{}",
    }),
  },
  "a server of the owner's own": {
    config: { providerName: "CUSTOM_TTS", modelName: "kokoro", voiceId: "af" },
    key: "",
    address: "",
    timings: false,
    expected: {
      path: "/audio/speech",
      headers: { authorization: "Bearer the-key" },
      body: { model: "kokoro", input: "Hello there. ", voice: "af", response_format: "wav", speed: 1.1 },
    },
    play: httpProvider({
      said: ({ input }) => String(input),
      body: (text) => wavFile(audioOf(text)),
      contentType: "audio/wav",
      malformed: "<html>Not found</html>",
    }),
  },
};
