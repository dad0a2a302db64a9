import { namesOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { PromptName, PromptText, PromptVersionNumber } from "../prompts.ts";
import { At, PageFigures, Resource } from "../resources.ts";
import { Tool } from "../tools/shown.ts";
import { About, Maybe, Nullable, OneOf, PageQuery, Words } from "../types.ts";
import { Differences, FiguresQuery, VersionFigures } from "./figures.ts";
import { Agent } from "./shown.ts";

export const ListAgentVersionsQuery = Type.Object({ ...PageQuery, ...FiguresQuery });
export const CompareVersionsQuery = Type.Object(FiguresQuery);
export const ListPublishesQuery = Type.Object(PageQuery);

const Note = Words({
  max: 500,
  description: "What it is for, for people to read.",
  example: "Asks for the order number first.",
});
const Override = Maybe(
  Type.Object({
    reason: Words({ max: 500, description: "Why, for the publish log.", example: "Outage of the test server." }),
  }),
  "Publishes although required tests have not passed. Needs the scope `agents:override`, which `*` does not include.",
);
const Version = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: "Number of the version.",
  examples: [3],
});
const Share = Type.Object({
  agent_version: Version,
  weight: Type.Integer({ minimum: 1, maximum: 100, description: "Percent of the new conversations.", examples: [90] }),
});

export const PublishVersionBody = Type.Object(
  { note: Maybe(Note), override: Override },
  { $id: "PublishVersionRequest", description: "How a version is published." },
);
export const SetTrafficBody = Type.Object(
  {
    split: Type.Array(Share, {
      minItems: 1,
      maxItems: 4,
      description: "Different versions, whose weights sum to 100.",
    }),
    note: Maybe(Note),
    override: Override,
  },
  { $id: "SetTrafficRequest", description: "How new conversations are split between versions." },
);

const NoteShown = Nullable(Type.String(), "What was said of it.");
const CreatedBy = Nullable(
  Type.String({ examples: ["key:key_01m7yyhwdzeb28n9gms8rr2qyg"] }),
  "The key or session that made it; null for Parley, such as for an agent that follows a prompt.",
);
const listed = {
  agent_version: Version,
  note: NoteShown,
  created_by: CreatedBy,
  created_at: At("When it was made."),
  published: Type.Boolean({ description: "Whether it is the published version." }),
  weight: Type.Integer({ minimum: 0, maximum: 100, description: "Percent of the new conversations that get it." }),
};

export const AgentVersionList = Resource("AgentVersionList", {
  versions: Type.Array(
    Resource("ListedAgentVersion", {
      ...listed,
      figures: Nullable(VersionFigures, "Null while the conversation service does not answer."),
    }),
    { description: "Versions of the page, newest first." },
  ),
  ...PageFigures,
});

export const AgentVersion = Resource("AgentVersion", {
  ...listed,
  agent: About(Agent, "The agent as the version has it."),
  analysis_prompt: Nullable(
    Type.Object({ prompt_name: PromptName, prompt_version: PromptVersionNumber, prompt_content: PromptText }),
    "The prompt of its analysis.",
  ),
  tools: Nullable(
    Type.Array(Type.Omit(Tool, ["created_at", "updated_at", "created_by"], { $id: "VersionTool" })),
    "The definitions of its `custom_tools`, as they were; null for a key without the scope `tools:read`.",
  ),
});

const Anything = (description: string) => Type.Unknown({ description });
export const AgentVersionDiff = Resource("AgentVersionDiff", {
  from: Version,
  to: Version,
  changes: Type.Array(
    Type.Object({
      field: Type.String({
        description:
          "The field, such as `llm.params.temperature`; of a tool, `custom_tools`, its name and the field. To a key without the scope `tools:read`, only the tools' names are compared.",
        examples: ["prompt.prompt_content"],
      }),
      from: Anything("Its value in the first version; null if it has none."),
      to: Anything("Its value in the second."),
      diff: Type.Optional(
        Type.String({ description: "Of prompts and texts of several lines: what changed, in the unified format." }),
      ),
    }),
    { description: "The fields that differ. Secrets are masked." },
  ),
});

const Compared = Type.Object({ agent_version: Version, figures: VersionFigures });
export const AgentVersionComparison = Resource("AgentVersionComparison", {
  a: About(Compared, "The first version."),
  b: About(Compared, "The second version."),
  differences: Differences,
});

const PUBLISH_KINDS = [
  ...(["publish", "rollback", "traffic", "automatic"] as const),
  ...(["test_changed", "test_cleared", "test_deleted"] as const),
] as const;

const publish = {
  number: Type.Integer({ minimum: 1, description: "Number of the entry." }),
  kind: OneOf(PUBLISH_KINDS, {
    description:
      "`rollback`: an older version than before was published; `automatic`: a change took effect at once; `test_changed`, `test_cleared`, `test_deleted`: a required test was, which `note` names.",
  }),
  agent_version: Nullable(Version, "The version that was published."),
  split: Nullable(Type.Array(Share), "Of `traffic`: the versions."),
  note: NoteShown,
  override_reason: Nullable(Type.String(), "Why it was published although required tests had not passed."),
  created_by: CreatedBy,
  created_at: At("When it happened."),
};
const Publish = Resource("AgentPublish", publish, "An entry of an agent's publish log.");

export const PublishDone = Resource("AgentPublishDone", {
  publish: Publish,
  publishing: OneOf(namesOf(PUBLISHINGS), { description: "How changes are published from now on." }),
  became_manual: Type.Boolean({
    description: "Whether that was `auto` before: a version that is not the newest makes it `manual`.",
  }),
});

export const PublishList = Resource("AgentPublishList", {
  publishes: Type.Array(Publish, { description: "Entries of the page, newest first." }),
  ...PageFigures,
});

export const Traffic = Resource("AgentTraffic", {
  split: Type.Array(Share, {
    description: "The versions that new conversations get: the published one alone without a split; empty if none is.",
  }),
});
