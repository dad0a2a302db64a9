import { AGENT_FIELDS, nullShownAs, plainAgentFields } from "@parley/shared/domain/agent-fields";
import { AGENT_TYPES, namesOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { type Static, Type } from "@sinclair/typebox";
import { PromptContent } from "../prompts.ts";
import { About, DateTimeText, E164, Maybe, Nullable, OneOf, PageQuery, Text, TimeZone } from "../types.ts";
import { AgentKnowledge, CustomTool, Handoff } from "./acting.ts";
import { Llm, Sts, Stt, Tts } from "./models.ts";
import { CallSettings, Tools, WhatsApp, Widget } from "./settings.ts";
import { StartWebhook } from "./start-webhook.ts";

const CATEGORIES = [
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

const PromptName = Text({ min: 1, max: 100, description: "Name of a prompt.", example: "refunds" });
const PromptVersion = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const whichVersion = {
  prompt_version: Maybe(PromptVersion, "A version of it. Default: the latest at any time."),
  prompt_label: Maybe(
    Text({ min: 1, max: 64, example: "production" }),
    "A label of it, in place of `prompt_version`: the version that has the label at any time.",
  ),
};
const PromptReference = Type.Object({ prompt_name: PromptName, ...whichVersion });
const AnalysisPrompt = Type.Object({
  prompt_name: Maybe(PromptName, "Name of a prompt. Give either this or `custom_prompt`."),
  ...whichVersion,
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
  custom_tools: Maybe(
    Type.Array(CustomTool, { maxItems: 32 }),
    "Tools of your library (`/tools`) that the agent's model can call, each once.",
  ),
  handoffs: Maybe(
    Type.Array(Handoff, { maxItems: 10 }),
    "Agents of yours to which the model may hand the conversation over, each once. With `sts`, calls go only to agents with `sts`.",
  ),
  knowledge: Maybe(
    Type.Array(AgentKnowledge, { maxItems: 5 }),
    "Knowledge bases of yours (`/knowledge-bases`) that the agent answers from, each once.",
  ),
  timezone: Maybe(TimeZone, "IANA time zone of the system variables. Default: that of your settings, or UTC."),
  start_webhook: Maybe(
    StartWebhook,
    "Your server, which is asked once before a conversation begins. A conversation asks that of its own version, published or not.",
  ),
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
          max: 2048,
          pattern: "^https?://\\S+$",
          check: URL.canParse,
          form: "be an https:// or http:// address",
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

export const PublishingMode = OneOf(namesOf(PUBLISHINGS), {
  description:
    "`auto`: a change takes effect at once. `manual`: a change makes a version, and conversations go on with the published one.",
});

const ofVersions = {
  publishing: Type.Optional(About(PublishingMode, "What a change does. Default for a new agent: `auto`.")),
  version_note: Maybe(
    Text({ min: 1, max: 500, example: "Shorter greeting" }),
    "Says what the version is for that the request makes.",
  ),
};

const AgentName = Text({ min: 1, max: 100, description: "Name of the agent.", example: "Front desk" });

export const CreateAgentBody = Type.Object(
  { agent_name: AgentName, agent_type: AgentType, ...optionalFields, ...ofVersions },
  { $id: "CreateAgentRequest", description: "An agent. Fields that you leave out have no value, or their default." },
);
export type CreateAgentBody = Static<typeof CreateAgentBody>;

export const UpdateAgentBody = Type.Object(
  { agent_name: Type.Optional(AgentName), agent_type: Type.Optional(AgentType), ...optionalFields, ...ofVersions },
  {
    $id: "UpdateAgentRequest",
    description: "The fields to change. Those that you leave out stay as they are; null clears a field.",
  },
);
export type UpdateAgentBody = Static<typeof UpdateAgentBody>;

const WriteAgentQuery = Type.Object({
  move_numbers: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Whether to take over numbers in `agent_mobile_number` that other agents answer. Without it, they are refused with 409.",
    }),
  ),
});

export const CreateAgentQuery = Type.Object({
  ...WriteAgentQuery.properties,
  copy_of: Type.Optional(
    Text({
      min: 1,
      max: 200,
      description: "ID of the agent that the body is a copy of: a masked key in the body stands for that agent's key.",
    }),
  ),
});

export const GetAgentQuery = Type.Object({
  agent_version: Type.Optional(
    Text({
      pattern: "^([1-9][0-9]{0,8}|published|latest)$",
      form: "be the number of a version, published or latest",
      description: "The version whose fields are shown: a number, `published`, or `latest` (the default).",
      example: "published",
    }),
  ),
});

export const UpdateAgentQuery = Type.Object({
  ...WriteAgentQuery.properties,
  if_updated_at: Type.Optional(
    About(
      DateTimeText,
      "The `updated_at` of the agent that the change is based on. If the agent has changed since, the request is refused with 409.",
    ),
  ),
});

export const ListAgentsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({ max: 200, description: "Part of the name or description, in any case.", example: "desk" }),
  ),
  agent_type: Type.Optional(About(AgentType, "Only agents of this type.")),
  agent_category: Type.Optional(About(Category, "Only agents of this category.")),
});
