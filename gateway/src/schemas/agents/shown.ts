import { FIELD_TYPES, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { PromptLabelName, PromptName, PromptText, PromptVersionNumber } from "../prompts.ts";
import { AgentId, AgentName, At, Message, PageFigures, Resource } from "../resources.ts";
import { About, Nullable, OneOf } from "../types.ts";
import { AgentKnowledge, CustomTool, Handoff } from "./acting.ts";
import { Pricing, Sts } from "./models.ts";
import { AgentType, PublishingMode, shownPlainFields } from "./requests.ts";
import { StartWebhookShown } from "./start-webhook.ts";

const KeyShown = (of: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.String({ description: "Masked except for its last four characters.", examples: ["********1234"] }),
        Type.Object({ secret: Type.String({ description: "Name of the secret that is the key." }) }),
      ],
      { description: `Key of a ${of}.` },
    ),
  );
const LlmShown = {
  provider_name: Type.String({ description: "Provider of the model.", examples: ["OPENAI"] }),
  model_name: Type.String({ description: "Name of the model.", examples: ["gpt-4.1-mini"] }),
  params: Type.Object(
    {
      temperature: Type.Optional(Type.Number({ description: "Sampling temperature." })),
      base_url: Type.Optional(Type.String({ description: "Address of a CUSTOM_LLM." })),
      api_key: KeyShown("CUSTOM_LLM"),
      API_TYPE: Type.Optional(
        OneOf(["CHAT_COMPLETION", "RESPONSES"] as const, { description: "Protocol of a CUSTOM_LLM." }),
      ),
    },
    { description: "Parameters of the model." },
  ),
  pricing: Type.Optional(About(Pricing, "What a CUSTOM_LLM costs, if that was given.")),
};
const SpeechEndpoint = {
  base_url: Type.Optional(Type.String({ description: "Address of a CUSTOM_STT or CUSTOM_TTS." })),
  api_key: KeyShown("CUSTOM_STT or CUSTOM_TTS"),
};
const SpokenLanguage = Type.Optional(Type.String({ description: "BCP 47 tag.", examples: ["en-US"] }));
const SttConfig = Resource(
  "SttConfig",
  {
    provider_name: Type.String({ description: "Provider of the model.", examples: ["DEEPGRAM"] }),
    model_name: Type.String({ description: "Name of the model.", examples: ["nova-3"] }),
    language: SpokenLanguage,
    params: Type.Object(SpeechEndpoint, { description: "Parameters of the model." }),
  },
  "Speech-to-text model.",
);
const TtsConfig = Resource(
  "TtsConfig",
  {
    provider_name: Type.String({ description: "Provider of the voice.", examples: ["OPENAI"] }),
    model_name: Type.Optional(Type.String({ description: "Name of the model.", examples: ["gpt-4o-mini-tts"] })),
    language: SpokenLanguage,
    voice_id: Type.String({ description: "ID of the voice.", examples: ["alloy"] }),
    params: Type.Object(
      { ...SpeechEndpoint, speed: Type.Optional(Type.Number({ description: "Speed, 1 being normal." })) },
      { description: "Parameters of the voice." },
    ),
  },
  "Text-to-speech voice.",
);
export const LlmConfig = Resource(
  "LlmConfig",
  {
    ...LlmShown,
    fallbacks: Type.Optional(
      Type.Array(Type.Object(LlmShown), {
        description: "Models to try, in this order, if the previous one does not start to answer.",
      }),
    ),
  },
  "Language model.",
);

const VersionNumber = (description: string) => Type.Integer({ minimum: 1, description });

export const Agent = Resource("Agent", {
  id: AgentId,
  agent_name: AgentName,
  agent_type: AgentType,
  ...shownPlainFields,
  stt: Nullable(SttConfig, "Speech-to-text model."),
  llm: Nullable(LlmConfig, "Language model."),
  tts: Nullable(TtsConfig, "Text-to-speech voice."),
  sts: Type.Optional(About(Sts, "Speech-to-speech model, when there is one.")),
  custom_tools: Type.Array(CustomTool, { description: "Tools of the library that the agent's model can call." }),
  handoffs: Type.Array(Handoff, { description: "Agents to which the model may hand the conversation over." }),
  knowledge: Type.Array(AgentKnowledge, { description: "Knowledge bases that the agent answers from." }),
  start_webhook: Nullable(StartWebhookShown, "The server that a conversation on this version asks before it begins."),
  call_analysis_enabled: Type.Boolean({ description: "Whether conversations are analyzed when they end." }),
  call_analysis_prompt: Type.Optional(
    Type.Object(
      {
        prompt_name: PromptName,
        prompt_version: Type.Optional(About(PromptVersionNumber, "Version, when it stays with one.")),
        prompt_label: Type.Optional(About(PromptLabelName, "Label that it follows, when it follows one.")),
      },
      { description: "Prompt for the analysis, when there is one." },
    ),
  ),
  call_analysis_schema: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({ type: Type.String({ description: "Type of the field.", examples: ["Optional[str]"] }) }),
      { description: "Fields of the analysis by name, when there are any." },
    ),
  ),
  prompt: Nullable(
    Type.Object({
      prompt_name: PromptName,
      prompt_version: PromptVersionNumber,
      prompt_label: Type.Optional(About(PromptLabelName, "Label that it follows, when it follows one.")),
      prompt_content: PromptText,
    }),
    "The prompt as the agent's version has it.",
  ),
  prompt_pinned: Type.Boolean({
    description:
      "Whether the agent stays with that version. If false, it follows `prompt_label` or the latest, also when that is the version shown.",
  }),
  publishing: PublishingMode,
  agent_version: VersionNumber("The version that these fields are of."),
  latest_version: VersionNumber("The newest version."),
  published_version: Nullable(
    Type.Integer({ minimum: 1 }),
    "The version that conversations begin with, unless traffic is split; null if none is published.",
  ),
  published_mobile_number: Type.Array(Type.String(), {
    description:
      "The phone numbers that the agent answers: those of its published version, without those that another agent has taken over.",
  }),
  dynamic_variables: Type.Array(Type.String(), { description: "Names of the variables in prompt and greeting." }),
  created_at: At("When the agent was created."),
  updated_at: At("When the agent was last changed."),
});

export const AgentList = Resource("AgentList", {
  agents: Type.Array(Agent, { description: "Agents of the page, newest first." }),
  ...PageFigures,
});

export const AgentDeleted = Resource("AgentDeleted", {
  message: Message,
  agent_id: AgentId,
  agent_name: AgentName,
  deleted_at: At("When the agent was deleted."),
});

const DynamicVariable = Resource("DynamicVariable", {
  variable_name: Type.String({
    description: "The variable's name in its canonical form.",
    examples: ["customer_name"],
  }),
  required: Type.Boolean({ description: "Whether it has no default." }),
  field_type: OneOf(namesOf(FIELD_TYPES), { description: "What kind of value it takes." }),
  description: Type.String({ description: "What the value is." }),
});

export const DynamicVariables = Resource("DynamicVariables", {
  agent_id: AgentId,
  agent_name: AgentName,
  dynamic_variables: Type.Array(DynamicVariable, {
    description: "The variables, in reading order.",
  }),
});
