import { Type } from "@sinclair/typebox";
import { LlmConfig } from "../agents/shown.ts";
import { Resource } from "../resources.ts";
import { Nullable } from "../types.ts";

const ProviderSetup = Resource("ProviderSetup", {
  provider_name: Type.String({ description: "Name of the provider.", examples: ["OPENAI"] }),
  key_variable: Type.String({
    description: "The operator's variable that holds its key.",
    examples: ["OPENAI_API_KEY"],
  }),
  is_ready: Type.Boolean({ description: "Whether that variable is set." }),
});

const setups = (kind: string) => Type.Array(ProviderSetup, { description: `Providers of ${kind}.` });

export const ModelSetup = Resource("ModelSetup", {
  llm: setups("language models"),
  default_llm: Nullable(LlmConfig, "The model for a new agent, in the form of its `llm`; null if there is none."),
});

export const SpeechSetup = Resource("SpeechSetup", {
  stt: setups("speech-to-text"),
  tts: setups("text-to-speech"),
  sts: setups("speech-to-speech"),
});
