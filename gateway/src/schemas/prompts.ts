import { namesOf, PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { AgentId, AgentName, At, Message, PageFigures, Resource } from "./resources.ts";
import { About, Maybe, OneOf, PageQuery, Text } from "./types.ts";

export const PromptContent = Text({
  min: 1,
  max: 500_000,
  description: "Text of the prompt, which may have dynamic variables: `{{ name : TYPE : description | default }}`.",
  example: "You handle refunds for {{company | Acme}}. The order is {{order number: NUMBER}}.",
});

const PromptType = OneOf(namesOf(PROMPT_TYPES), {
  description: "`main` for what an agent says, `analysis` for the analysis of ended conversations.",
});

export const CreatePromptBody = Type.Object(
  {
    prompt_name: Text({
      min: 1,
      max: 100,
      description: "Name, unique among the owner's prompts. One that exists gets a new version.",
      example: "refunds",
    }),
    prompt_content: PromptContent,
    prompt_metadata: Maybe(
      Type.Object({ prompt_type: Maybe(PromptType, "What the prompt is for. Default: `main`.") }),
      "What the prompt is for.",
    ),
  },
  { $id: "CreatePromptRequest", description: "A prompt, or a new version of one." },
);

export const CreatePromptQuery = Type.Object({
  new_only: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Whether a prompt that has the name is refused with 409, instead of getting a new version.",
    }),
  ),
});

export const UpdatePromptBody = Type.Object(
  { prompt_content: PromptContent },
  { $id: "UpdatePromptRequest", description: "A new version of a prompt." },
);

const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [1] });

export const RestorePromptBody = Type.Object(
  { prompt_version: About(VersionNumber, "Version whose content becomes a new version.") },
  { $id: "RestorePromptRequest", description: "The version of a prompt to restore." },
);

export const SetPromptLabelBody = Type.Object(
  { prompt_version: About(VersionNumber, "Version that gets the label.") },
  { $id: "SetPromptLabelRequest", description: "The version of a prompt that gets a label." },
);

export const GetPromptQuery = Type.Object({
  version: Type.Optional(About(VersionNumber, "Version to return. Default: the latest.")),
  label: Type.Optional(
    Text({
      min: 1,
      max: 64,
      description: "Label of the version to return, in place of `version`.",
      example: "production",
    }),
  ),
});

export const DiffPromptQuery = Type.Object({
  from: Text({ min: 1, max: 64, description: "Number of a version, a label or `latest`.", example: "1" }),
  to: Type.Optional(
    Text({
      min: 1,
      max: 64,
      description: "Number of the other version, a label or `latest`. Default: `latest`.",
      example: "production",
    }),
  ),
});

export const ListPromptsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({ max: 200, description: "Part of the name or content, in any case.", example: "refund" }),
  ),
  latest_only: Type.Optional(
    Type.Boolean({ default: true, description: "Whether to list only the latest version of each prompt." }),
  ),
});

export const ListVersionsQuery = Type.Object({
  include: Type.Optional(OneOf(["used_by"] as const, { description: "`used_by`: the agents that use the prompt." })),
});

export const PromptName = Type.String({ description: "Name of the prompt." });
export const PromptVersionNumber = Type.Integer({ minimum: 1, description: "Version of the prompt." });
export const PromptText = Type.String({ description: "Text of the prompt." });
export const PromptLabelName = Type.String({ description: "Label of a version.", examples: ["production"] });
const Labels = Type.Array(PromptLabelName, { description: "Labels of this version." });

export const Prompt = Resource("Prompt", {
  prompt_name: PromptName,
  prompt_version: PromptVersionNumber,
  prompt_content: PromptText,
  prompt_metadata: Type.Object({ prompt_type: PromptType }, { description: "What the prompt is for." }),
  created_at: At("When the prompt's first version was created."),
  updated_at: At("When this version was created."),
  labels: Labels,
});

export const PromptList = Resource("PromptList", {
  prompts: Type.Array(Prompt, { description: "Prompts of the page, newest first." }),
  ...PageFigures,
});

const PromptUser = Resource(
  "PromptUser",
  {
    agent_id: AgentId,
    agent_name: AgentName,
    prompt_labels: Type.Array(PromptLabelName, { description: "Labels of the prompt that the agent follows." }),
  },
  "An agent that uses a prompt.",
);

export const PromptVersions = Resource("PromptVersions", {
  prompt_name: PromptName,
  versions: Type.Array(
    Type.Object({
      prompt_version: PromptVersionNumber,
      prompt_content: PromptText,
      created_at: At("When the version was created."),
      labels: Labels,
    }),
    { description: "All versions, newest first." },
  ),
  total_versions: Type.Integer({ description: "Number of versions." }),
  used_by: Type.Optional(
    Type.Array(PromptUser, {
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

const VariableNames = (description: string) => Type.Array(Type.String(), { description });

export const PromptDiff = Resource("PromptDiff", {
  prompt_name: PromptName,
  from_version: About(PromptVersionNumber, "Number of the version that `from` means."),
  to_version: About(PromptVersionNumber, "Number of the version that `to` means."),
  diff: Type.String({ description: "The changes of the content in the unified format; empty if there are none." }),
  variables_added: VariableNames("Names of the dynamic variables that only the second version has."),
  variables_removed: VariableNames("Names of the dynamic variables that only the first version has."),
});

export const PromptLabel = Resource("PromptLabel", {
  prompt_name: PromptName,
  label: PromptLabelName,
  prompt_version: About(PromptVersionNumber, "Version that has the label."),
  updated_at: At("When the label was set to this version."),
});

export const PromptLabelDeleted = Resource("PromptLabelDeleted", {
  message: Message,
  prompt_name: PromptName,
  label: PromptLabelName,
  deleted_at: At("When the label was deleted."),
});
