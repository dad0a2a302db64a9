import { pcmBytes } from "../src/audio/wav.ts";
import type { Connection } from "./speech-server.ts";

/** A message of a provider or to it. */
export type Message = Record<string, unknown>;

/** What a provider says and hears, message by message as in its documentation. */
export interface StsProvider {
  providerName: string;
  key: string;
  address: string;
  /** Added to the server's address. */
  base: string;
  path: string;
  headers: Record<string, string>;
  /** The message that opens the conversation, in part. */
  setup: object;
  /** The provider's answer to it. */
  ready: object;
  /** The audio in a message, in base64; null if it has none. */
  audioIn(message: Message): string | null;
  hearsSamplesPerSecond: number;
  userBegan: object[];
  userSaid(text: string): object[];
  audio(samples: Int16Array): object;
  text(text: string): object;
  toolCall: object;
  /** The message that gives the model the tool's result, "sunny". */
  toolAnswer: object;
  done: object[];
  greeting: object;
  malformed: (object | string)[];
  /** The messages after which a lost connection can be replaced; `resumes` tells the next connection about the previous one. */
  resumable: object[];
  resumes: object[];
  /** What a model that takes over is told of the conversation. */
  continued: object[];
  /** The message that lets the model know "A VIP.". */
  informed: object;
  /** The messages that mute the model, with what is heard then. */
  muted: (Message | "audio")[];
  /** The messages after which it may answer. */
  unmuted: Message[];
  error: (connection: Connection) => void;
}

export const base64 = (samples: Int16Array) => Buffer.from(pcmBytes(samples)).toString("base64");

const detecting = (answers: boolean) => ({
  type: "session.update",
  session: {
    type: "realtime",
    audio: { input: { turn_detection: { type: "semantic_vad", create_response: answers } } },
  },
});

export const STS_PROVIDERS: Record<string, StsProvider> = {
  OpenAI: {
    providerName: "OPENAI",
    key: "OPENAI_API_KEY",
    address: "OPENAI_BASE_URL",
    base: "/v1",
    path: "/v1/realtime",
    headers: { authorization: "Bearer the-key" },
    setup: {
      type: "session.update",
      session: {
        type: "realtime",
        instructions: "You are Ada.",
        audio: { input: { transcription: { language: "en" } }, output: { voice: "marin" } },
        tools: [
          { type: "function", name: "weather", description: "Tells the weather", parameters: { type: "object" } },
        ],
      },
    },
    ready: { type: "session.updated", session: {} },
    audioIn: ({ type, audio }) => (type === "input_audio_buffer.append" ? String(audio) : null),
    hearsSamplesPerSecond: 24_000,
    userBegan: [{ type: "input_audio_buffer.speech_started", audio_start_ms: 0, item_id: "u" }],
    userSaid: (transcript) => [
      {
        type: "conversation.item.input_audio_transcription.completed",
        item_id: "u",
        content_index: 0,
        transcript: `${transcript}\n`,
      },
      { type: "response.created", response: { status: "in_progress" } },
    ],
    audio: (samples) => ({
      type: "response.output_audio.delta",
      item_id: "a",
      content_index: 0,
      delta: base64(samples),
    }),
    text: (delta) => ({ type: "response.output_audio_transcript.delta", item_id: "a", content_index: 0, delta }),
    toolCall: {
      type: "response.function_call_arguments.done",
      call_id: "c1",
      name: "weather",
      arguments: '{"place":"here"}',
    },
    toolAnswer: {
      type: "conversation.item.create",
      item: { type: "function_call_output", call_id: "c1", output: "sunny" },
    },
    done: [{ type: "response.done", response: { status: "completed" } }],
    greeting: { type: "response.create", response: { instructions: "Say exactly this, and nothing else: Hello." } },
    malformed: [
      "no",
      "[]",
      { type: "response.output_audio.delta", delta: 5 },
      { type: "response.function_call" },
      { type: "error", error: { type: "invalid_request_error", message: "Secret" } },
    ],
    resumable: [],
    resumes: [
      {
        type: "conversation.item.create",
        item: { type: "message", role: "user", content: [{ type: "input_text", text: "Hello?" }] },
      },
      {
        type: "conversation.item.create",
        item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi there." }] },
      },
    ],
    continued: ["input_text", "output_text"].map((type, at) => {
      const [role, text] = at === 0 ? ["user", "Hello?"] : ["assistant", "Hi there."];
      return { type: "conversation.item.create", item: { type: "message", role, content: [{ type, text }] } };
    }),
    informed: {
      type: "conversation.item.create",
      item: { type: "message", role: "system", content: [{ type: "input_text", text: "A VIP." }] },
    },
    muted: [detecting(false), { type: "response.cancel" }, "audio"],
    unmuted: [detecting(true)],
    error: (connection) => connection.send({ type: "error", error: { type: "server_error", message: "Secret" } }),
  },
  Google: {
    providerName: "GOOGLE",
    key: "GOOGLE_API_KEY",
    address: "GOOGLE_BASE_URL",
    base: "/v1beta",
    path: "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
    headers: { "x-goog-api-key": "the-key" },
    setup: {
      setup: {
        model: "models/the-model",
        generationConfig: {
          responseModalities: ["AUDIO"],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "marin" } }, languageCode: "en-US" },
        },
        systemInstruction: { parts: [{ text: "You are Ada." }] },
        tools: [{ functionDeclarations: [{ name: "weather", description: "Tells the weather" }] }],
        inputAudioTranscription: {},
        outputAudioTranscription: {},
        sessionResumption: {},
      },
    },
    ready: { setupComplete: {} },
    audioIn: ({ realtimeInput }) => {
      const { audio } = (realtimeInput ?? {}) as { audio?: { data: string } };
      return audio?.data ?? null;
    },
    hearsSamplesPerSecond: 16_000,
    userBegan: [{ serverContent: { interrupted: true } }],
    userSaid: (text) => [
      { serverContent: { inputTranscription: { text: text.slice(0, 4) } } },
      { serverContent: { inputTranscription: { text: text.slice(4) } } },
    ],
    audio: (samples) => ({
      serverContent: {
        modelTurn: { parts: [{ inlineData: { mimeType: "audio/pcm;rate=24000", data: base64(samples) } }] },
      },
    }),
    text: (text) => ({ serverContent: { outputTranscription: { text } } }),
    toolCall: { toolCall: { functionCalls: [{ id: "c1", name: "weather", args: { place: "here" } }] } },
    toolAnswer: {
      toolResponse: { functionResponses: [{ id: "c1", name: "weather", response: { result: "sunny" } }] },
    },
    done: [{ serverContent: { generationComplete: true } }, { serverContent: { turnComplete: true } }],
    greeting: {
      clientContent: {
        turns: [{ role: "user", parts: [{ text: "Say exactly this, and nothing else: Hello." }] }],
        turnComplete: true,
      },
    },
    malformed: [
      "no",
      "3",
      { serverContent: "x" },
      { toolCall: { functionCalls: 4 } },
      { serverContent: { modelTurn: { parts: [1] } } },
    ],
    resumable: [{ sessionResumptionUpdate: { newHandle: "h1", resumable: true } }],
    resumes: [],
    continued: [
      {
        clientContent: {
          turns: [
            { role: "user", parts: [{ text: "Hello?" }] },
            { role: "model", parts: [{ text: "Hi there." }] },
          ],
          turnComplete: false,
        },
      },
    ],
    informed: { clientContent: { turns: [{ role: "user", parts: [{ text: "A VIP." }] }], turnComplete: false } },
    muted: [],
    unmuted: [],
    error: (connection) => connection.close(1011, "Secret"),
  },
};
