import {
  AGENT_TYPES,
  CALLING_TYPES,
  CARRIERS,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  FIELD_TYPES,
  GENDERS,
  namesOf,
  PROMPT_TYPES,
  ROLES,
} from "@parley/shared/api-names";
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { CATEGORIES, Sts, Stt, Tools, Tts, Widget } from "./agents.ts";
import { Json, Nullable, OneOf } from "./types.ts";

export const Id = (example: string) => Type.String({ examples: [example] });
export const DateTime = Type.String({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"] });
const Uuid = Type.String({ format: "uuid", examples: ["0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"] });
/** A schema with a name of its own in the document. */
const named = <S extends TSchema>($id: string, schema: S): S => ({ ...schema, $id });
export const Resource = <P extends TProperties>($id: string, properties: P, description?: string) =>
  Type.Object(properties, { $id, ...(description !== undefined && { description }) });

export const Problem = Resource("Problem", {
  detail: Type.String({ description: "One sentence for a person.", examples: ["agent_name is required"] }),
  errors: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: "With 422: each field that breaks a rule.",
    }),
  ),
});

export const PageFigures = {
  total: Type.Integer({ minimum: 0 }),
  page: Type.Integer({ minimum: 1 }),
  page_size: Type.Integer({ minimum: 1 }),
  total_pages: Type.Integer({ minimum: 0 }),
};

const LlmShown = Type.Object({
  provider_name: Type.String({ examples: ["OPENAI"] }),
  model_name: Type.String({ examples: ["gpt-4.1-mini"] }),
  params: Type.Object({
    temperature: Type.Optional(Type.Number()),
    base_url: Type.Optional(Type.String()),
    api_key: Type.Optional(Type.String({ description: "Masked.", examples: ["********1234"] })),
    API_TYPE: Type.Optional(OneOf(["CHAT_COMPLETION", "RESPONSES"] as const)),
  }),
});
const LlmConfig = Resource("LlmConfig", {
  ...LlmShown.properties,
  fallbacks: Type.Optional(Type.Array(LlmShown)),
});
const PromptReference = Type.Object({ prompt_name: Type.String(), prompt_version: Type.Optional(Type.Integer()) });

export const Agent = Resource("Agent", {
  id: Id("agt_01m7yyhwdzeb28n9gms8rr2qyg"),
  agent_name: Type.String(),
  agent_description: Nullable(Type.String()),
  agent_type: OneOf(namesOf(AGENT_TYPES)),
  agent_category: OneOf(CATEGORIES),
  agent_tips: Type.Array(Type.String()),
  agent_mobile_number: Type.Array(Type.String()),
  stt: Nullable(named("SttConfig", Stt)),
  llm: Nullable(LlmConfig),
  tts: Nullable(named("TtsConfig", Tts)),
  sts: Type.Optional(named("StsConfig", Sts)),
  call_analysis_enabled: Type.Boolean(),
  call_analysis_prompt: Type.Optional(PromptReference),
  call_analysis_schema: Type.Optional(Type.Record(Type.String(), Type.Object({ type: Type.String() }))),
  prompt: Nullable(
    Type.Object({ prompt_name: Type.String(), prompt_version: Type.Integer(), prompt_content: Type.String() }),
  ),
  first_message_prompt: Nullable(Type.String()),
  dynamic_variables: Type.Array(Type.String()),
  tools: named("Tools", Tools),
  widget_config: named("WidgetConfig", Widget),
  MediaFiles: Type.Array(Type.Object({ fileType: Type.String(), mediaUrl: Type.String() })),
  created_at: DateTime,
  updated_at: DateTime,
});

export const AgentList = Resource("AgentList", { agents: Type.Array(Agent), ...PageFigures });

export const AgentDeleted = Resource("AgentDeleted", {
  message: Type.String(),
  agent_id: Type.String(),
  agent_name: Type.String(),
  deleted_at: DateTime,
});

const DynamicVariable = Resource("DynamicVariable", {
  variable_name: Type.String({ examples: ["customer_name"] }),
  required: Type.Boolean(),
  field_type: OneOf(namesOf(FIELD_TYPES)),
  description: Type.String(),
});

export const DynamicVariables = Resource("DynamicVariables", {
  agent_id: Type.String(),
  agent_name: Type.String(),
  dynamic_variables: Type.Array(DynamicVariable),
});

export const Prompt = Resource("Prompt", {
  prompt_name: Type.String(),
  prompt_version: Type.Integer({ minimum: 1 }),
  prompt_content: Type.String(),
  prompt_metadata: Type.Object({ prompt_type: OneOf(namesOf(PROMPT_TYPES)) }),
  created_at: DateTime,
  updated_at: DateTime,
});

export const PromptList = Resource("PromptList", { prompts: Type.Array(Prompt), ...PageFigures });

export const PromptVersions = Resource("PromptVersions", {
  prompt_name: Type.String(),
  versions: Type.Array(
    Type.Object({ prompt_version: Type.Integer(), prompt_content: Type.String(), created_at: DateTime }),
  ),
  total_versions: Type.Integer(),
});

export const PromptDeleted = Resource("PromptDeleted", {
  message: Type.String(),
  prompt_name: Type.String(),
  versions_deleted: Type.Integer(),
  deleted_at: DateTime,
});

const Status = OneOf(namesOf(CONVERSATION_STATUSES));

const Message = Resource("Message", {
  role: OneOf(namesOf(ROLES)),
  content: Type.String(),
  timestamp: DateTime,
});

export const Conversation = Resource("Conversation", {
  id: Id("cnv_01m7yyhwpyegyarwxc0gvz1xd5"),
  conversation_id: Uuid,
  agent_id: Type.String(),
  conversation_type: OneOf(namesOf(CONVERSATION_TYPES)),
  conversation_status: Status,
  conversation_analysis: Nullable(
    Type.Array(
      Type.Object({
        name: Type.String(),
        value: Type.Unknown(),
        type: Type.String(),
        error: Type.Optional(Type.String()),
      }),
    ),
  ),
  notes: Nullable(Type.String()),
  conversation_transcript: Nullable(Type.Array(Message)),
  created_by: Nullable(Type.String()),
  conversation_metadata: Json,
  created_at: DateTime,
  updated_at: DateTime,
  calling_type: Type.Optional(OneOf(namesOf(CALLING_TYPES))),
  mobile_number: Type.Optional(Type.String()),
  duration: Type.Optional(Type.Number({ description: "Seconds." })),
});

const Neighbours = { has_next: Type.Boolean(), has_previous: Type.Boolean() };

export const ConversationList = Type.Union(
  [
    Resource("ConversationEnvelope", {
      status: OneOf(["success", "error"] as const),
      message: Type.String(),
      data: Type.Array(Conversation),
      pagination: Type.Object({ ...PageFigures, ...Neighbours }),
    }),
    Resource(
      "ConversationListFlat",
      { conversations: Type.Array(Conversation), ...PageFigures, ...Neighbours },
      "With `shape=flat`.",
    ),
  ],
  { $id: "ConversationList" },
);

export const ChatSession = Resource("ChatSession", {
  session_id: Uuid,
  agent_id: Type.String(),
  status: Status,
  messages: Type.Array(Message),
  message_count: Type.Integer(),
  created_at: DateTime,
  updated_at: DateTime,
  metadata: Json,
  usage: Type.Object({
    replies: Type.Integer(),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    mean_first_word_ms: Type.Integer(),
    mean_total_ms: Type.Integer(),
  }),
});

export const ChatSessionList = Resource("ChatSessionList", {
  object: Type.Literal("list"),
  data: Type.Array(
    Resource("ChatSessionItem", {
      id: Uuid,
      object: Type.Literal("chat.session"),
      created_at: Type.Integer({ description: "Unix seconds." }),
      updated_at: Type.Integer({ description: "Unix seconds." }),
      agent_id: Type.String(),
      conversation_name: Type.String(),
      message_count: Type.Integer(),
      metadata: Json,
    }),
  ),
  has_more: Type.Boolean(),
  ...PageFigures,
});

export const ChatReply = Resource("ChatReply", { response: Type.String(), session_id: Uuid });

export const FirstMessage = Resource("FirstMessage", {
  session_id: Uuid,
  first_message: Type.String(),
  agent_id: Type.String(),
});

const ModelsByProvider = Type.Record(Type.String(), Type.Array(Type.String()));
export const Providers = Resource("Providers", {
  llm: ModelsByProvider,
  tts: ModelsByProvider,
  stt: ModelsByProvider,
  timestamp: DateTime,
});

export const Voice = Resource("Voice", {
  id: Type.String(),
  name: Type.String(),
  provider: Type.String(),
  gender: OneOf(namesOf(GENDERS)),
  language: Type.String({ examples: ["en-US"] }),
  preview_url: Nullable(Type.String()),
});

export const VoiceList = Resource("VoiceList", {
  voices: Type.Array(Voice),
  total_count: Type.Integer(),
  page: Type.Integer(),
  page_size: Type.Integer(),
  has_more: Type.Boolean(),
});

export const MobileNumber = Resource("MobileNumber", {
  mobile_number: Type.String({ examples: ["+14155550123"] }),
  telephony_provider: OneOf(CARRIERS),
});

export const MobileNumbers = Resource("MobileNumbers", {
  user_id: Type.String(),
  purchased_mobile_numbers: Type.Array(MobileNumber),
});
