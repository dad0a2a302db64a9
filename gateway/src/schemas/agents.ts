import { AGENT_FIELDS, nullShownAs, plainAgentFields } from "@parley/shared/domain/agent-fields";
import { AGENT_TYPES, namesOf } from "@parley/shared/domain/api-names";
import { type Static, Type } from "@sinclair/typebox";
import { PromptContent } from "./prompts.ts";
import { About, E164, Json, Maybe, Nullable, OneOf, PageQuery, Text, TimeZone } from "./types.ts";

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

export const AgentType = OneOf(namesOf(AGENT_TYPES), { description: "Whether the agent takes calls or makes them." });
const Category = OneOf(CATEGORIES, { description: "Field of work." });
const Language = Text({
  max: 35,
  pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
  form: "look like a BCP 47 tag, such as en or en-US",
  description: "BCP 47 tag.",
  example: "en-US",
});
const ModelName = Text({ min: 1, max: 200, description: "A model of the provider.", example: "gpt-4.1-mini" });
const Temperature = Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature.", examples: [0.5] });
const strict = { additionalProperties: false };

/** The address of an owner's own model or speech server. */
const Endpoint = {
  // The operation's path is appended to it, which a query or a fragment would swallow. A URL parser drops line breaks
  // and tabs, so the address shown would differ from the address requested.
  base_url: Text({
    max: 2048,
    pattern: "^https?://[^?#\\s]*$",
    form: "be an https:// address without spaces, ? and #",
    description: "Address of an endpoint that speaks OpenAI's protocol, without the operation's path.",
    example: "https://llm.acme.example/v1",
  }),
  // The characters that a header may contain.
  api_key: Text({
    min: 1,
    max: 1000,
    pattern: "^[\\x21-\\x7e]*$",
    form: "be printable ASCII without spaces",
    description: "Key for the endpoint. Answers show it masked; sending the mask back leaves it unchanged.",
    example: "sk-acme-0123456789",
  }),
};
const SpeechEndpoint = { base_url: Endpoint.base_url, api_key: Type.Optional(Endpoint.api_key) };

const sttLanguage = Maybe(Language, "Language that is spoken, as a BCP 47 tag. Default: the model's own.");
const Stt = Type.Union(
  [
    Type.Object(
      {
        provider_name: Type.Literal("CUSTOM_STT", { description: "A server of your own." }),
        model_name: About(ModelName, "The model's name at your endpoint."),
        language: sttLanguage,
        params: Type.Object(SpeechEndpoint, {
          ...strict,
          description: "Where the server is: it has the operation `/audio/transcriptions`.",
        }),
      },
      { $id: "CustomSttRequest", description: "A speech-to-text server of your own." },
    ),
    Type.Object(
      {
        // Otherwise a CUSTOM_STT without its params would pass as a standard provider.
        provider_name: Text({
          min: 1,
          max: 100,
          pattern: "^(?!CUSTOM_STT$)",
          description: "A speech-to-text provider that GET /providers lists.",
          example: "DEEPGRAM",
        }),
        model_name: ModelName,
        language: sttLanguage,
        params: Maybe(Type.Object({}, strict), "Empty: speech-to-text has no parameters."),
      },
      { $id: "StandardSttRequest", description: "A model of a provider that the operator has a key for." },
    ),
  ],
  { $id: "SttRequest", description: "Speech-to-text model." },
);

const CustomLlm = {
  provider_name: Type.Literal("CUSTOM_LLM", { description: "A model of your own." }),
  model_name: About(ModelName, "The model's name at your endpoint."),
  params: Type.Object(
    {
      ...Endpoint,
      API_TYPE: Type.Optional(
        OneOf(["CHAT_COMPLETION", "RESPONSES"] as const, {
          description: "Which of OpenAI's protocols the endpoint speaks. Default: CHAT_COMPLETION.",
        }),
      ),
      temperature: Type.Optional(Temperature),
    },
    { ...strict, description: "Where the model is." },
  ),
};
const StandardLlm = {
  // Otherwise a CUSTOM_LLM without its params would pass as a standard provider.
  provider_name: Text({
    min: 1,
    max: 100,
    pattern: "^(?!CUSTOM_LLM$)",
    description: "A language-model provider that GET /providers lists.",
    example: "OPENAI",
  }),
  model_name: ModelName,
  params: Maybe(
    Type.Object({ temperature: Type.Optional(Temperature) }, strict),
    "Parameters of the model. Default: none.",
  ),
};
const fallbacks = {
  fallbacks: Maybe(
    Type.Array(Type.Union([Type.Object(CustomLlm), Type.Object(StandardLlm)]), { maxItems: 3 }),
    "Models to ask, in this order, if the previous one does not begin to answer.",
  ),
};
const Llm = Type.Union(
  [
    Type.Object({ ...CustomLlm, ...fallbacks }, { $id: "CustomLlmRequest", description: "A model of your own." }),
    Type.Object(
      { ...StandardLlm, ...fallbacks },
      { $id: "StandardLlmRequest", description: "A model of a provider that the operator has a key for." },
    ),
  ],
  { $id: "LlmRequest", description: "Language model." },
);

const ttsFields = {
  language: Maybe(Language, "Language to speak, as a BCP 47 tag. Default: the voice's own."),
  voice_id: Text({
    min: 1,
    max: 200,
    description: "A voice that GET /voices lists for the provider.",
    example: "alloy",
  }),
};
const Speed = Type.Optional(
  Type.Number({ minimum: 0.25, maximum: 4, description: "Speed, 1 being normal.", examples: [1.1] }),
);
const Tts = Type.Union(
  [
    Type.Object(
      {
        provider_name: Type.Literal("CUSTOM_TTS", { description: "A server of your own." }),
        model_name: Maybe(ModelName, "The model's name at your endpoint. Default: `tts-1`."),
        ...ttsFields,
        voice_id: About(ttsFields.voice_id, "A voice of your endpoint."),
        params: Type.Object(
          { ...SpeechEndpoint, speed: Speed },
          { ...strict, description: "Where the server is: it has the operation `/audio/speech`." },
        ),
      },
      { $id: "CustomTtsRequest", description: "A text-to-speech server of your own." },
    ),
    Type.Object(
      {
        // Otherwise a CUSTOM_TTS without its params would pass as a standard provider.
        provider_name: Text({
          min: 1,
          max: 100,
          pattern: "^(?!CUSTOM_TTS$)",
          description: "A text-to-speech provider that GET /providers lists.",
          example: "OPENAI",
        }),
        model_name: Maybe(ModelName, "A model of the provider. Default: the provider's own."),
        ...ttsFields,
        params: Maybe(Type.Object({ speed: Speed }, strict), "Parameters of the voice. Default: none."),
      },
      { $id: "StandardTtsRequest", description: "A voice of a provider that the operator has a key for." },
    ),
  ],
  { $id: "TtsRequest", description: "Text-to-speech voice." },
);

export const Sts = Type.Object(
  {
    provider_name: Text({ min: 1, max: 100, description: "A speech-to-speech provider.", example: "OPENAI" }),
    model_name: About(ModelName, "A speech-to-speech model of the provider."),
    language: Maybe(Language, "Language to speak, as a BCP 47 tag. Default: the model's own."),
    voice_id: Maybe(Text({ min: 1, max: 200 }), "A voice of the model. Default: the model's own."),
    params: Maybe(Json, "Parameters that the voice runtime passes to the model."),
  },
  { $id: "StsConfig", description: "Speech-to-speech model, in place of the other three." },
);

const Message = Type.Optional(Text({ max: 1000, description: "What the agent says then." }));
const tool = <P extends Parameters<typeof Type.Object>[0]>(description: string, properties: P) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Object(properties, strict)], { description }));
const Tools = Type.Object(
  {
    end_call: tool("Lets the model end the conversation.", { message: Message }),
    transfer_call: tool("Lets the model transfer a call.", {
      transfer_phone_number: About(E164, "Number to transfer to, in E.164 form."),
      message: Message,
    }),
    schedule_call: tool("Lets the model schedule another call.", {
      timezone: Type.Optional(About(TimeZone, "IANA time zone that the caller's times are in.")),
      max_days_ahead: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 365, description: "How many days ahead a call may be." }),
      ),
    }),
    set_language: tool("Lets the model change the language.", {
      languages: Type.Optional(
        Type.Array(Language, { maxItems: 100, description: "Languages to choose from. Default: any." }),
      ),
    }),
    background_audio: tool("Plays a sound behind the agent's voice.", {
      sound: Text({
        min: 1,
        max: 200,
        description: "`office`, `cafe` or `none`; a voice runtime may know others.",
        example: "office",
      }),
      volume: Type.Number({ minimum: 0, maximum: 1, description: "Volume, 1 being the loudest." }),
    }),
    user_idle: tool("Speaks to a user who says nothing.", {
      timeout_seconds: Type.Number({ minimum: 1, maximum: 600, description: "Seconds of silence before it speaks." }),
      max_reminders: Type.Integer({ minimum: 0, maximum: 10, description: "How often it speaks." }),
      message: Message,
    }),
  },
  {
    ...strict,
    $id: "Tools",
    description: "Each tool is `true`, `false`, or an object that configures it. One that is left out is off.",
  },
);

const CallSettings = Type.Object(
  {
    end_of_turn_silence_ms: Type.Optional(
      Type.Integer({
        minimum: 200,
        maximum: 3000,
        description:
          "Milliseconds of silence that end the user's turn, if the speech recognition does not decide it. Default: 500.",
      }),
    ),
    apology: Type.Optional(
      Text({ min: 1, max: 1000, description: "What the agent says before it ends a call that cannot go on." }),
    ),
    voicemail_message: Type.Optional(
      Text({ min: 1, max: 1000, description: "What the agent leaves on a voicemail that answers its call." }),
    ),
  },
  { ...strict, $id: "CallSettings", description: "How the agent takes turns in calls." },
);

const WhatsApp = Type.Object(
  {
    voice_replies: Type.Optional(
      Type.Boolean({ description: "Whether a voice message is answered with one. Needs `tts`. Default: false." }),
    ),
  },
  { ...strict, $id: "WhatsAppSettings", description: "How the agent behaves on WhatsApp." },
);

const Widget = Type.Object(
  {
    title: Maybe(Text({ max: 200 }), "Title of the chat window."),
    subtitle: Maybe(Text({ max: 500 }), "Line below the title."),
    avatar_url: Maybe(Text({ max: 2048 }), "Address of the agent's picture."),
    primary_color: Maybe(
      Text({ pattern: "^#[0-9A-Fa-f]{6}$", form: "be a colour such as #1A2B3C" }),
      "Main color, such as #1A2B3C.",
    ),
    position: Maybe(OneOf(["bottom-right", "bottom-left"] as const), "Corner of the page that the widget is in."),
    greeting: Maybe(Text({ max: 1000 }), "Text shown before the first message."),
    placeholder: Maybe(Text({ max: 200 }), "Text in the empty message field."),
    suggested_messages: Maybe(
      Type.Array(Text({ min: 1, max: 200 }), { maxItems: 5 }),
      "Messages that a visitor can send with one click.",
    ),
    allowed_origins: Maybe(
      Type.Array(Text({ min: 1, max: 300 }), { maxItems: 100 }),
      "Origins of the pages that may show the widget.",
    ),
  },
  { $id: "WidgetConfig", description: "Look of the chat widget." },
);

const PromptName = Text({ min: 1, max: 100, description: "Name of a prompt.", example: "refunds" });
const PromptVersion = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const PromptReference = Type.Object({
  prompt_name: PromptName,
  prompt_version: Maybe(PromptVersion, "A version of it. Default: the latest at any time."),
});
const AnalysisPrompt = Type.Object({
  prompt_name: Maybe(PromptName, "Name of a prompt. Give either this or `custom_prompt`."),
  prompt_version: Maybe(PromptVersion, "A version of it. Default: the latest at any time."),
  custom_prompt: Maybe(PromptContent, "Text of a prompt of the agent's own."),
});

const optionalFields = {
  agent_description: Maybe(Text({ max: 500 }), "What the agent is for."),
  agent_category: Maybe(Category, "Field of work. Default: `other`."),
  agent_tips: Maybe(Type.Array(Text({ max: 1000 }), { maxItems: 100 }), "Tips for people who use the agent."),
  agent_mobile_number: Maybe(Type.Array(E164, { maxItems: 100 }), "Phone numbers of the agent, in E.164 form."),
  stt: Maybe(Stt, "Speech-to-text model, for calls."),
  llm: Maybe(Llm, "Language model. Without one the agent cannot chat."),
  tts: Maybe(Tts, "Text-to-speech voice, for calls."),
  sts: Maybe(Sts, "Speech-to-speech model, in place of the other three on calls."),
  call_analysis_enabled: Maybe(
    Type.Boolean(),
    "Whether conversations are analyzed when they end. Requires `call_analysis_prompt`.",
  ),
  call_analysis_prompt: Maybe(AnalysisPrompt, "Prompt for the analysis: the name of one, or a text of its own."),
  call_analysis_schema: Maybe(
    Type.Record(
      Type.String(),
      Type.Object({
        type: Text({
          min: 1,
          max: 1000,
          description: '`str`, `int`, `float`, `bool`, `dict`, `list[T]`, `Optional[T]` or `Literal["a","b"]`.',
          example: "Optional[str]",
        }),
      }),
    ),
    "Fields of the analysis by name. Default: one field, `summary`.",
  ),
  prompt_content: Maybe(PromptContent, "Text of a prompt of the agent's own. Give either this or `prompt`."),
  prompt: Maybe(PromptReference, "A prompt by name."),
  first_message_prompt: Maybe(Text({ max: 10_000 }), "The agent's greeting, which may have dynamic variables."),
  tools: Maybe(Tools, "What the agent can do besides talking."),
  call_settings: Maybe(CallSettings, "How the agent takes turns in calls."),
  recording: Maybe(
    Type.Boolean(),
    "Whether calls are recorded. Default: false. Ask the people who call for their consent where the law requires it.",
  ),
  whatsapp: Maybe(WhatsApp, "How the agent behaves on WhatsApp."),
  widget_config: Maybe(Widget, "Look of the chat widget."),
  MediaFiles: Maybe(
    Type.Array(
      Type.Object({
        fileType: Text({ min: 1, max: 100, description: "Type of the file.", example: "image/png" }),
        mediaUrl: Text({
          min: 1,
          max: 2048,
          description: "Address of the file.",
          example: "https://cdn.acme.example/floor-plan.png",
        }),
      }),
      { maxItems: 100 },
    ),
    "Files that belong to the agent.",
  ),
};

/** The plain fields in responses: null where an agent has no value, unless another value is shown instead. */
export const shownPlainFields = Object.fromEntries(
  plainAgentFields.map((field) => {
    const { api, empty } = AGENT_FIELDS[field];
    const { anyOf, description } = optionalFields[api];
    const isNullable = empty === null && nullShownAs(field) === null;
    return [api, isNullable ? Nullable(anyOf[0], description) : About(anyOf[0], description ?? "")];
  }),
);

const AgentName = Text({ min: 1, max: 100, description: "Name of the agent.", example: "Front desk" });

export const CreateAgentBody = Type.Object(
  { agent_name: AgentName, agent_type: AgentType, ...optionalFields },
  { $id: "CreateAgentRequest", description: "An agent. Fields that you leave out have no value, or their default." },
);
export type CreateAgentBody = Static<typeof CreateAgentBody>;

export const UpdateAgentBody = Type.Object(
  { agent_name: Type.Optional(AgentName), agent_type: Type.Optional(AgentType), ...optionalFields },
  {
    $id: "UpdateAgentRequest",
    description: "The fields to change. Those that you leave out stay as they are; null clears a field.",
  },
);
export type UpdateAgentBody = Static<typeof UpdateAgentBody>;

export const ListAgentsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({ max: 200, description: "Part of the name or description, in any case.", example: "desk" }),
  ),
  agent_type: Type.Optional(About(AgentType, "Only agents of this type.")),
  agent_category: Type.Optional(About(Category, "Only agents of this category.")),
});
