import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";

const params = (temperature?: number) => ({ temperature, baseUrl: undefined, apiKey: undefined, apiType: undefined });
/** Settings of a model, a recognizer or a voice with nothing beyond its names. */
export const llm = (providerName: string, modelName: string) => ({
  providerName,
  modelName,
  params: params(),
  fallbacks: [],
});
export const stt = (providerName: string, modelName: string) => ({
  providerName,
  modelName,
  language: undefined,
  endpoint: undefined,
});
export const tts = (providerName: string, voiceId: string, modelName?: string) => ({
  providerName,
  voiceId,
  modelName,
  language: undefined,
  speed: undefined,
  endpoint: undefined,
});

/** An agent that has every field but a prompt. */
export const EVERYTHING = {
  agentName: "Réception 😀",
  agentDescription: "Answers.",
  agentType: AgentType.AGENT_TYPE_OUTBOUND,
  agentCategory: "Healthcare",
  agentTips: ["Be brief", ""],
  agentMobileNumbers: ["+14155550123"],
  stt: { providerName: "DEEPGRAM", modelName: "nova-3", language: "en-US", endpoint: undefined },
  llm: { providerName: "OPENAI", modelName: "gpt-4o-mini", params: params(0.7), fallbacks: [] },
  tts: {
    providerName: "ELEVENLABS",
    modelName: "eleven_v3",
    language: "en",
    voiceId: "v1",
    speed: 1.25,
    endpoint: undefined,
  },
  sts: {
    providerName: "ANY",
    modelName: "thing",
    language: "en",
    voiceId: "v2",
    params: { nested: { camelCase: [1, null, true] }, snake_case: "kept" },
  },
  firstMessagePrompt: "Hello {{Customer Name}}!",
  tools: { end_call: { message: "Bye" }, user_idle: false },
  widgetConfig: { title: "Chat", extra: { any: ["thing"] } },
  mediaFiles: [{ fileType: "image/png", mediaUrl: "https://example.com/a.png" }],
};
