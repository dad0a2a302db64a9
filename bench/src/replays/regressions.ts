import { WORDY_MODEL, WORSE_MODEL } from "./model.ts";
import { analysisSchema, COMPANY, GREETING, PROMPT, RULE_LOOK_UP, TOOLS, TOPICS } from "./shop.ts";

/** A change of the agent. */
export interface Change {
  name: string;
  /** What is changed for the worse; null: nothing that matters. */
  of: "prompt" | "tool" | "handoff" | "model" | "analysis" | "voice" | null;
  /** Whether it can only be met in calls. */
  isHeard?: boolean;
  /** Fields of the agent. */
  agent?: Record<string, unknown>;
  /** Fields of one of its tools. */
  tool?: { id: string; fields: Record<string, unknown> };
}

/** What the agent is made of. */
export interface Parts {
  /** The fields that are changed, as they are before. */
  agent: { custom_tools: { tool_id: string }[]; llm: object; stt: object; handoffs: object[] };
  toolIds: Record<keyof typeof TOOLS, string>;
  salesId: string;
}

export function harmlessChanges({ agent }: Parts): Change[] {
  return [
    { name: "unchanged", of: null },
    { name: "unchanged", of: null, isHeard: true },
    { name: "a model with other words", of: null, agent: { llm: { ...agent.llm, model_name: WORDY_MODEL } } },
  ];
}

/** Changes for the worse, as somebody may make them by mistake. */
export function regressions({ agent, toolIds, salesId }: Parts): Change[] {
  const { lookUpOrder } = TOOLS;
  return [
    {
      name: "a rule of the prompt is gone",
      of: "prompt",
      agent: { prompt_content: PROMPT.replace(`${RULE_LOOK_UP}\n`, "") },
    },
    {
      name: "a variable is misspelled",
      of: "prompt",
      agent: { prompt_content: PROMPT.replace(`Guarantee: ${COMPANY}`, "Guarantee: {{compny}}") },
    },
    {
      name: "a tool is removed",
      of: "tool",
      agent: { custom_tools: agent.custom_tools.filter(({ tool_id }) => tool_id !== toolIds.bookRepair) },
    },
    {
      name: "a tool requires one more parameter",
      of: "tool",
      tool: {
        id: toolIds.lookUpOrder,
        fields: {
          parameters: [
            ...lookUpOrder.parameters,
            { name: "postcode", in: "query", required: true, schema: { type: "integer" } },
          ],
        },
      },
    },
    {
      name: "a result's filter drops a field",
      of: "tool",
      tool: { id: toolIds.lookUpOrder, fields: { result: { keep: ["/status"] } } },
    },
    {
      name: "a handoff goes to another agent",
      of: "handoff",
      agent: { handoffs: agent.handoffs.map((handoff) => ({ ...handoff, agent_id: salesId })) },
    },
    { name: "the model is a worse one", of: "model", agent: { llm: { ...agent.llm, model_name: WORSE_MODEL } } },
    {
      name: "a word of the analysis is gone",
      of: "analysis",
      agent: { call_analysis_schema: analysisSchema(TOPICS.filter((topic) => topic !== "repair")) },
    },
    {
      name: "the greeting names another shop",
      of: "voice",
      agent: { first_message_prompt: GREETING.replace(COMPANY, "Hillside Books") },
    },
    {
      name: "calls are recognized in another language",
      of: "voice",
      isHeard: true,
      agent: { stt: { ...agent.stt, language: "es-ES" } },
    },
  ];
}
