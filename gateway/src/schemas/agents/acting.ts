import { namesOf } from "@parley/shared/domain/api-names";
import { KNOWLEDGE_MODES } from "@parley/shared/domain/knowledge";
import { HANDOFF_CONTEXTS } from "@parley/shared/domain/tools";
import { type Static, Type } from "@sinclair/typebox";
import { Maybe, OneOf, strict, Text, Words } from "../types.ts";

export const CustomTool = Type.Object(
  {
    tool_id: Text({ min: 1, max: 200, description: "ID of the tool.", example: "tol_01m7yyhwr5h8k2n6q0t3w7y1a4" }),
  },
  { ...strict, $id: "AgentTool", description: "A tool of the library that an agent uses." },
);

export const Handoff = Type.Object(
  {
    agent_id: Text({
      min: 1,
      max: 200,
      description: "ID of the agent that takes over.",
      example: "agt_01m7yyhwpyegyarwxc0gvz1xd5",
    }),
    when: Words({
      max: 1000,
      description: "What the model reads to decide when to hand over.",
      example: "The caller asks about an invoice.",
    }),
    context: Maybe(
      OneOf(namesOf(HANDOFF_CONTEXTS)),
      "What the new agent learns of the conversation: all messages, the last ten, or none. Default: `all`.",
    ),
    message: Maybe(Words({ max: 1000 }), "What the first agent says when it hands over. Default: nothing."),
    keep_voice: Maybe(Type.Boolean(), "Whether the new agent speaks with the voice of the first one. Default: false."),
    greet: Maybe(Type.Boolean(), "Whether the new agent speaks its greeting before it answers. Default: false."),
  },
  { ...strict, $id: "Handoff", description: "An agent to which the model may hand the conversation over." },
);
export type HandoffBody = Static<typeof Handoff>;

export const AgentKnowledge = Type.Object(
  {
    knowledge_base_id: Text({
      min: 1,
      max: 200,
      description: "ID of the knowledge base.",
      example: "kb_01m7yyhws9j3m6r1v4x8z2b5c7",
    }),
    mode: OneOf(namesOf(KNOWLEDGE_MODES), {
      description:
        "`tool`: the model searches when it wants. `always`: each user message is searched before the model is asked. `prompt`: the whole text is part of the prompt.",
    }),
    max_chunks: Maybe(Type.Integer({ minimum: 1, maximum: 50 }), "The most chunks that one search gives. Default: 6."),
    max_characters: Maybe(
      Type.Integer({ minimum: 500, maximum: 40_000 }),
      "The most characters of these chunks together. Default: 8000.",
    ),
    min_score: Maybe(
      Type.Number({ minimum: 0, maximum: 1 }),
      "Chunks with a lower score are left out. Default: none are.",
    ),
  },
  { ...strict, $id: "AgentKnowledge", description: "A knowledge base that an agent answers from." },
);
export type AgentKnowledgeBody = Static<typeof AgentKnowledge>;
