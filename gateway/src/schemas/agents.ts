import { AGENT_TYPES, namesOf } from "@parley/shared/api-names";
import { type Static, Type } from "@sinclair/typebox";
import { PromptContent } from "./prompts.ts";
import { E164, Json, Maybe, OneOf, PageQuery, Text, TimeZone } from "./types.ts";

export const CATEGORIES = [
  "Customer Service",
  "Sales",
  "Scheduling",
  "Research",
  "Healthcare",
  "Customer Success",
  "Education",
  "Finance",
  "HR",
  "Legal",
  "Productivity",
  "Creative",
  "IT/DevOps",
  "E-commerce",
  "Entertainment",
  "Travel",
  "Wellness",
  "Anime",
  "Cartoon",
  "Gaming",
  "Lifestyle",
  "other",
] as const;

const AgentType = OneOf(namesOf(AGENT_TYPES));
const Category = OneOf(CATEGORIES);
const Language = Text({
  max: 35,
  pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
  form: "look like a BCP 47 tag, such as en or en-US",
  example: "en-US",
});
const ProviderName = Text({ min: 1, max: 100 });
const ModelName = Text({ min: 1, max: 200 });
const Temperature = Type.Number({ minimum: 0, maximum: 2 });
const strict = { additionalProperties: false };

export const Stt = Type.Object({
  provider_name: ProviderName,
  model_name: ModelName,
  language: Maybe(Language),
  params: Maybe(Type.Object({}, strict)),
});

const CustomLlm = Type.Object({
  provider_name: Type.Literal("CUSTOM_LLM"),
  model_name: ModelName,
  params: Type.Object(
    {
      // The operation's path is appended, which a query or a fragment would swallow; a URL's parser drops line breaks and tabs,
      // so that what is shown would not be what is asked.
      base_url: Text({
        max: 2048,
        pattern: "^https?://[^?#\\s]*$",
        form: "be an https:// address without spaces, ? and #",
      }),
      // What a header can carry.
      api_key: Text({ min: 1, max: 1000, pattern: "^[\\x21-\\x7e]*$", form: "be printable ASCII without spaces" }),
      API_TYPE: Type.Optional(OneOf(["CHAT_COMPLETION", "RESPONSES"] as const)),
      temperature: Type.Optional(Temperature),
    },
    strict,
  ),
});
const StandardLlm = Type.Object({
  // Without this a CUSTOM_LLM that lacks its params would pass for a standard provider.
  provider_name: Text({ min: 1, max: 100, pattern: "^(?!CUSTOM_LLM$)" }),
  model_name: ModelName,
  params: Maybe(Type.Object({ temperature: Type.Optional(Temperature) }, strict)),
});
const fallbacks = { fallbacks: Maybe(Type.Array(Type.Union([CustomLlm, StandardLlm]), { maxItems: 3 })) };
const Llm = Type.Union([
  Type.Object({ ...CustomLlm.properties, ...fallbacks }),
  Type.Object({ ...StandardLlm.properties, ...fallbacks }),
]);

export const Tts = Type.Object({
  provider_name: ProviderName,
  model_name: Maybe(ModelName),
  language: Maybe(Language),
  voice_id: Text({ min: 1, max: 200 }),
  params: Maybe(Type.Object({ speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })) }, strict)),
});

export const Sts = Type.Object({
  provider_name: ProviderName,
  model_name: ModelName,
  language: Maybe(Language),
  voice_id: Maybe(Text({ min: 1, max: 200 })),
  params: Maybe(Json),
});

const Message = Type.Optional(Text({ max: 1000 }));
const tool = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Object(properties, strict)]));
export const Tools = Type.Object(
  {
    end_call: tool({ message: Message }),
    transfer_call: tool({ transfer_phone_number: E164, message: Message }),
    schedule_call: tool({
      timezone: Type.Optional(TimeZone),
      max_days_ahead: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
    }),
    set_language: tool({ languages: Type.Optional(Type.Array(Language, { maxItems: 100 })) }),
    background_audio: tool({ sound: Text({ min: 1, max: 200 }), volume: Type.Number({ minimum: 0, maximum: 1 }) }),
    user_idle: tool({
      timeout_seconds: Type.Number({ minimum: 1, maximum: 600 }),
      max_reminders: Type.Integer({ minimum: 0, maximum: 10 }),
      message: Message,
    }),
  },
  strict,
);

export const Widget = Type.Object({
  title: Maybe(Text({ max: 200 })),
  subtitle: Maybe(Text({ max: 500 })),
  avatar_url: Maybe(Text({ max: 2048 })),
  primary_color: Maybe(Text({ pattern: "^#[0-9A-Fa-f]{6}$", form: "be a colour such as #1A2B3C" })),
  position: Maybe(OneOf(["bottom-right", "bottom-left"] as const)),
  greeting: Maybe(Text({ max: 1000 })),
  placeholder: Maybe(Text({ max: 200 })),
  suggested_messages: Maybe(Type.Array(Text({ min: 1, max: 200 }), { maxItems: 5 })),
  allowed_origins: Maybe(Type.Array(Text({ min: 1, max: 300 }), { maxItems: 100 })),
});

const PromptName = Text({ min: 1, max: 100 });
const PromptVersion = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const PromptReference = Type.Object({ prompt_name: PromptName, prompt_version: Maybe(PromptVersion) });
const AnalysisPrompt = Type.Object({
  prompt_name: Maybe(PromptName),
  prompt_version: Maybe(PromptVersion),
  custom_prompt: Maybe(PromptContent),
});

const optionalFields = {
  agent_description: Maybe(Text({ max: 500 })),
  agent_category: Maybe(Category),
  agent_tips: Maybe(Type.Array(Text({ max: 1000 }), { maxItems: 100 })),
  agent_mobile_number: Maybe(Type.Array(E164, { maxItems: 100 })),
  stt: Maybe(Stt),
  llm: Maybe(Llm),
  tts: Maybe(Tts),
  sts: Maybe(Sts),
  call_analysis_enabled: Maybe(Type.Boolean()),
  call_analysis_prompt: Maybe(AnalysisPrompt),
  call_analysis_schema: Maybe(Type.Record(Type.String(), Type.Object({ type: Text({ min: 1, max: 1000 }) }))),
  prompt_content: Maybe(PromptContent),
  prompt: Maybe(PromptReference),
  first_message_prompt: Maybe(Text({ max: 10_000 })),
  tools: Maybe(Tools),
  widget_config: Maybe(Widget),
  MediaFiles: Maybe(
    Type.Array(Type.Object({ fileType: Text({ min: 1, max: 100 }), mediaUrl: Text({ min: 1, max: 2048 }) }), {
      maxItems: 100,
    }),
  ),
};

export const CreateAgentBody = Type.Object({
  agent_name: Text({ min: 1, max: 100, example: "Front desk" }),
  agent_type: AgentType,
  ...optionalFields,
});
export type CreateAgentBody = Static<typeof CreateAgentBody>;

export const UpdateAgentBody = Type.Object({
  agent_name: Type.Optional(Text({ min: 1, max: 100 })),
  agent_type: Type.Optional(AgentType),
  ...optionalFields,
});
export type UpdateAgentBody = Static<typeof UpdateAgentBody>;

export const ListAgentsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(Text({ max: 200, description: "Part of the name or description; case does not matter." })),
  agent_type: Type.Optional(AgentType),
  agent_category: Type.Optional(Category),
});
