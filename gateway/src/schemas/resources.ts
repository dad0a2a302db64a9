import {
  CALLING_TYPES,
  CARRIERS,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  FIELD_TYPES,
  GENDERS,
  MESSAGE_DELIVERIES,
  namesOf,
  ROLES,
} from "@parley/shared/domain/api-names";
import { type TProperties, Type } from "@sinclair/typebox";
import { AgentType, Sts, shownPlainFields } from "./agents.ts";
import { PromptType } from "./prompts.ts";
import { About, Json, Nullable, OneOf } from "./types.ts";

export const Id = (description: string, example: string) => Type.String({ description, examples: [example] });
export const At = (description?: string) =>
  Type.String({
    format: "date-time",
    ...(description !== undefined && { description }),
    examples: ["2026-01-31T09:30:00.000Z"],
  });
export const Uuid = (description: string) =>
  Type.String({ format: "uuid", description, examples: ["0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"] });
/** A schema with a name of its own in the document. */
export const Resource = <P extends TProperties>($id: string, properties: P, description?: string) =>
  Type.Object(properties, { $id, ...(description !== undefined && { description }) });

export const Problem = Resource(
  "Problem",
  {
    detail: Type.String({ description: "What was wrong, in one sentence.", examples: ["agent_name is required"] }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "The field, such as `llm.params.base_url`." }),
          message: Type.String({ description: "What was wrong with it." }),
        }),
        { description: "With 422: each field that breaks a rule." },
      ),
    ),
  },
  "Why a request was refused.",
);

export const PageFigures = {
  total: Type.Integer({ minimum: 0, description: "Number of items on all pages." }),
  page: Type.Integer({ minimum: 1, description: "This page." }),
  page_size: Type.Integer({ minimum: 1, description: "Items on a full page." }),
  total_pages: Type.Integer({ minimum: 0, description: "Number of pages." }),
};

const LlmShown = {
  provider_name: Type.String({ description: "Provider of the model.", examples: ["OPENAI"] }),
  model_name: Type.String({ description: "Name of the model.", examples: ["gpt-4.1-mini"] }),
  params: Type.Object(
    {
      temperature: Type.Optional(Type.Number({ description: "Sampling temperature." })),
      base_url: Type.Optional(Type.String({ description: "Address of a CUSTOM_LLM." })),
      api_key: Type.Optional(
        Type.String({
          description: "Key of a CUSTOM_LLM, masked except for its last four characters.",
          examples: ["********1234"],
        }),
      ),
      API_TYPE: Type.Optional(
        OneOf(["CHAT_COMPLETION", "RESPONSES"] as const, { description: "Protocol of a CUSTOM_LLM." }),
      ),
    },
    { description: "Parameters of the model." },
  ),
};
const SpeechEndpoint = {
  base_url: Type.Optional(Type.String({ description: "Address of a CUSTOM_STT or CUSTOM_TTS." })),
  api_key: Type.Optional(
    Type.String({
      description: "Key of a CUSTOM_STT or CUSTOM_TTS, masked except for its last four characters.",
      examples: ["********1234"],
    }),
  ),
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
        description: "Models to ask, in this order, if the previous one does not begin to answer.",
      }),
    ),
  },
  "Language model.",
);
const PromptName = Type.String({ description: "Name of the prompt." });
const PromptVersionNumber = Type.Integer({ minimum: 1, description: "Version of the prompt." });
const PromptText = Type.String({ description: "Text of the prompt." });
export const AgentId = Id("ID of the agent.", "agt_01m7yyhwdzeb28n9gms8rr2qyg");
const AgentName = Type.String({ description: "Name of the agent.", examples: ["Front desk"] });

export const Agent = Resource("Agent", {
  id: AgentId,
  agent_name: AgentName,
  agent_type: AgentType,
  ...shownPlainFields,
  stt: Nullable(SttConfig, "Speech-to-text model."),
  llm: Nullable(LlmConfig, "Language model."),
  tts: Nullable(TtsConfig, "Text-to-speech voice."),
  sts: Type.Optional(About(Sts, "Speech-to-speech model, when there is one.")),
  call_analysis_enabled: Type.Boolean({ description: "Whether conversations are analyzed when they end." }),
  call_analysis_prompt: Type.Optional(
    Type.Object(
      {
        prompt_name: PromptName,
        prompt_version: Type.Optional(About(PromptVersionNumber, "Version, when it is not always the latest.")),
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
    Type.Object({ prompt_name: PromptName, prompt_version: PromptVersionNumber, prompt_content: PromptText }),
    "The prompt that the agent uses now.",
  ),
  dynamic_variables: Type.Array(Type.String(), { description: "Names of the variables in prompt and greeting." }),
  created_at: At("When the agent was created."),
  updated_at: At("When the agent was last changed."),
});

export const AgentList = Resource("AgentList", {
  agents: Type.Array(Agent, { description: "Agents of the page, newest first." }),
  ...PageFigures,
});

const Message = Type.String({ description: "What was done." });

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

export const Prompt = Resource("Prompt", {
  prompt_name: PromptName,
  prompt_version: PromptVersionNumber,
  prompt_content: PromptText,
  prompt_metadata: Type.Object({ prompt_type: PromptType }, { description: "What the prompt is for." }),
  created_at: At("When the version was created."),
  updated_at: At("When the version was last changed."),
});

export const PromptList = Resource("PromptList", {
  prompts: Type.Array(Prompt, { description: "Prompts of the page, newest first." }),
  ...PageFigures,
});

export const PromptVersions = Resource("PromptVersions", {
  prompt_name: PromptName,
  versions: Type.Array(
    Type.Object({
      prompt_version: PromptVersionNumber,
      prompt_content: PromptText,
      created_at: At("When the version was created."),
    }),
    { description: "All versions, newest first." },
  ),
  total_versions: Type.Integer({ description: "Number of versions." }),
  used_by: Type.Optional(
    Type.Array(Resource("PromptUser", { agent_id: AgentId, agent_name: AgentName }, "An agent that uses a prompt."), {
      description: "With `include=used_by`: the first 100 agents that use the prompt, in any version, by name.",
    }),
  ),
  used_by_total: Type.Optional(Type.Integer({ description: "With `include=used_by`: number of agents that use it." })),
});

export const PromptDeleted = Resource("PromptDeleted", {
  message: Message,
  prompt_name: PromptName,
  versions_deleted: Type.Integer({ description: "Number of versions that were deleted." }),
  deleted_at: At("When the prompt was deleted."),
});

const SessionId = Uuid("ID of the session.");
export const ConversationId = Uuid("ID of the conversation; of a chat, its session's.");
export const ConversationType = OneOf(namesOf(CONVERSATION_TYPES), { description: "Channel of the conversation." });
export const Status = OneOf(namesOf(CONVERSATION_STATUSES), {
  description: "Whether it is in progress, or how it ended.",
});
export const CallingType = OneOf(namesOf(CALLING_TYPES), { description: "Direction of the call." });
export const RecordId = Id("ID of the record.", "cnv_01m7yyhwpyegyarwxc0gvz1xd5");

const Stage = (what: string) => Type.Optional(Type.Integer({ description: `Until ${what}.` }));

const Figure = (what: string) => Nullable(Type.Integer({ minimum: 0 }), `${what}; null if unknown.`);

export const TranscriptMessage = Resource("Message", {
  role: OneOf(namesOf(ROLES), { description: "Who said it." }),
  content: Type.String({ description: "What was said." }),
  timestamp: At("When it was said."),
  latency: Type.Optional(
    Type.Object(
      {
        end_of_turn: Stage("the decision that the user had finished"),
        transcript: Stage("the last words of the transcript"),
        first_word: Stage("the model's first word"),
        first_audio: Stage("the first audio of the voice"),
        audible: Stage("the first audio on the wire"),
      },
      { description: "Milliseconds from the end of the user's speech, for spoken replies that were measured." },
    ),
  ),
  reply: Type.Optional(
    Type.Object(
      {
        provider_name: Type.String({ description: "Provider of the model.", examples: ["OPENAI"] }),
        model_name: Type.String({ description: "Name of the model.", examples: ["gpt-5-mini"] }),
        input_tokens: Figure("Tokens that the model read"),
        output_tokens: Figure("Tokens that the model wrote"),
        first_word_ms: Figure("Milliseconds until its first word"),
        total_ms: Figure("Milliseconds until its end"),
        is_partial: Type.Boolean({ description: "Whether the reply was cut short, or is still being made." }),
      },
      { description: "What a model's reply cost; only with `include=replies`." },
    ),
  ),
  delivery_status: Type.Optional(
    OneOf(namesOf(MESSAGE_DELIVERIES), { description: "What became of a message that was sent over WhatsApp." }),
  ),
  delivery_error: Type.Optional(
    Type.String({ description: "If the delivery failed: WhatsApp's error code.", examples: ["131047"] }),
  ),
});

export const AnalysisItem = Resource("AnalysisItem", {
  name: Type.String({ description: "Name of the field." }),
  value: Type.Unknown({ description: "Value of the field, null if the model gave none of its type." }),
  type: Type.String({ description: "Type of the field.", examples: ["bool"] }),
  error: Type.Optional(Type.String({ description: "Why there is no value." })),
});

export const Conversation = Resource("Conversation", {
  id: RecordId,
  conversation_id: ConversationId,
  agent_id: AgentId,
  conversation_type: ConversationType,
  conversation_status: Status,
  conversation_analysis: Nullable(Type.Array(AnalysisItem), "An item for each field, null until there is an analysis."),
  notes: Nullable(Type.String(), "Notes of whoever ended the conversation."),
  conversation_transcript: Nullable(
    Type.Array(TranscriptMessage),
    "What was said, oldest first. Null for a call without a transcript; of a long one, the newest messages.",
  ),
  created_by: Nullable(Type.String(), "ID of the user who created it."),
  conversation_metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "What you gave with it, and fields of its channel such as `last_activity` or `to_mobile_number`.",
  }),
  created_at: At("When the conversation began."),
  updated_at: At("When the conversation last changed."),
  calling_type: Type.Optional(About(CallingType, "Direction of the call, for calls.")),
  mobile_number: Type.Optional(Type.String({ description: "The other side's phone number, for calls." })),
  duration: Type.Optional(Type.Number({ description: "Duration in seconds, when known." })),
  scheduled_call: Type.Optional(
    Type.Object(
      {
        at: At("When."),
        reason: Type.Optional(Type.String({ description: "What it is about." })),
      },
      { description: "A further call that the agent agreed with the user." },
    ),
  ),
});

export const AnalysisStarted = Resource("AnalysisStarted", { conversation_id: ConversationId, message: Message });

const Neighbours = {
  has_next: Type.Boolean({ description: "Whether there is a next page." }),
  has_previous: Type.Boolean({ description: "Whether there is a previous page." }),
};

export const ConversationList = Type.Union(
  [
    Resource(
      "ConversationEnvelope",
      {
        status: OneOf(["success", "error"] as const, { description: "Always `success`." }),
        message: Type.String({ description: "What was done." }),
        data: Type.Array(Conversation, { description: "Conversations of the page, newest first." }),
        pagination: Type.Object(
          { ...PageFigures, ...Neighbours },
          { description: "Position of the page in the list." },
        ),
      },
      "With `shape=envelope`, the default.",
    ),
    Resource(
      "ConversationListFlat",
      {
        conversations: Type.Array(Conversation, { description: "Conversations of the page, newest first." }),
        ...PageFigures,
        ...Neighbours,
      },
      "With `shape=flat`.",
    ),
  ],
  { $id: "ConversationList" },
);

const MessageCount = Type.Integer({ description: "Number of messages." });
const SessionMetadata = About(Json, "What you gave with it, `last_activity` and `session_status`.");

export const ChatSession = Resource("ChatSession", {
  session_id: SessionId,
  agent_id: AgentId,
  status: Status,
  messages: Type.Array(TranscriptMessage, {
    description: "What was said, oldest first; of a long session, the newest messages.",
  }),
  message_count: MessageCount,
  created_at: At("When the session began."),
  updated_at: At("When the session last changed."),
  metadata: SessionMetadata,
  usage: Type.Object(
    {
      replies: Type.Integer({ description: "Replies that the model gave." }),
      input_tokens: Type.Integer({ description: "Tokens that the model read." }),
      output_tokens: Type.Integer({ description: "Tokens that the model wrote." }),
      mean_first_word_ms: Type.Integer({ description: "Mean milliseconds until the first word of a streamed reply." }),
      mean_total_ms: Type.Integer({ description: "Mean milliseconds until the end of a reply." }),
    },
    { description: "What the session used." },
  ),
});

export const ChatSessionList = Resource("ChatSessionList", {
  object: Type.Literal("list", { description: "Always `list`." }),
  data: Type.Array(
    Resource("ChatSessionItem", {
      id: SessionId,
      object: Type.Literal("chat.session", { description: "Always `chat.session`." }),
      created_at: Type.Integer({ description: "When the session began, in Unix seconds." }),
      updated_at: Type.Integer({ description: "When the session last changed, in Unix seconds." }),
      agent_id: AgentId,
      conversation_name: Type.String({ description: "Beginning of the first message." }),
      message_count: MessageCount,
      metadata: SessionMetadata,
    }),
    { description: "Sessions of the page, newest first." },
  ),
  has_more: Type.Boolean({ description: "Whether there is a next page." }),
  ...PageFigures,
});

export const ChatReply = Resource(
  "ChatReply",
  { response: Type.String({ description: "The whole reply." }), session_id: SessionId },
  "A whole reply, with `streaming: false`.",
);

export const FirstMessage = Resource("FirstMessage", {
  session_id: About(SessionId, "ID of the new session, for the messages that follow."),
  first_message: Type.String({ description: "The agent's greeting." }),
  agent_id: AgentId,
});

const modelsOf = (description: string) =>
  Type.Record(Type.String(), Type.Array(Type.String()), { description: `${description} Models by provider.` });
export const Providers = Resource("Providers", {
  llm: modelsOf("Language models."),
  tts: modelsOf("Text-to-speech."),
  stt: modelsOf("Speech-to-text."),
  timestamp: At("When the catalogue was last updated."),
});

export const Voice = Resource("Voice", {
  id: Type.String({ description: "What to give as `voice_id`.", examples: ["alloy"] }),
  name: Type.String({ description: "Name of the voice." }),
  provider: Type.String({ description: "Provider of the voice." }),
  gender: OneOf(namesOf(GENDERS), { description: "Gender of the voice." }),
  language: Type.String({ description: "Language of the voice, as a BCP 47 tag.", examples: ["en-US"] }),
  preview_url: Nullable(Type.String(), "Address of a sample; null if there is none."),
});

export const VoiceList = Resource("VoiceList", {
  voices: Type.Array(Voice, { description: "Voices of the page." }),
  total_count: Type.Integer({ description: "Number of voices on all pages." }),
  page: Type.Integer({ description: "This page." }),
  page_size: Type.Integer({ description: "Voices on a full page." }),
  has_more: Type.Boolean({ description: "Whether there is a next page." }),
});

export const MobileNumber = Resource("MobileNumber", {
  mobile_number: Type.String({ description: "Phone number in E.164 form.", examples: ["+14155550123"] }),
  telephony_provider: OneOf([...CARRIERS, "SIP"] as const, {
    description: "Carrier of the number. SIP is shown only with `include=sip`.",
  }),
});

export const MobileNumbers = Resource("MobileNumbers", {
  user_id: Id("ID of the owner.", "own_01m7yyhwdzeb28n9gms8rr2qyg"),
  purchased_mobile_numbers: Type.Array(MobileNumber, { description: "All phone numbers, oldest first." }),
});
