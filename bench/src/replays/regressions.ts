import { WORSE_MODEL } from "./model.ts";
import { analysisSchema, COMPANY, GREETING, PROMPT, RULE_LOOK_UP, TOOLS, TOPICS } from "./shop.ts";

/** A change for the worse, as somebody may make it by mistake. */
export interface Regression {
  name: string;
  kind: "prompt" | "tool" | "handoff" | "model" | "analysis" | "voice";
  /** Whether it can only be met in calls. */
  isHeard?: boolean;
  /** Fields of the agent. */
  agent?: Record<string, unknown>;
  /** Fields of one of its tools. */
  tool?: { id: string; fields: Record<string, unknown> };
}

/** What the agent is made of. */
export interface Parts {
  /** The fields that regressions change, as they are without one. */
  agent: { custom_tools: { tool_id: string }[]; llm: object; stt: object; handoffs: object[] };
  toolIds: Record<keyof typeof TOOLS, string>;
  salesId: string;
}

export function regressions({ agent, toolIds, salesId }: Parts): Regression[] {
  const { lookUpOrder } = TOOLS;
  return [
    {
      name: "a rule of the prompt is gone",
      kind: "prompt",
      agent: { prompt_content: PROMPT.replace(`${RULE_LOOK_UP}\n`, "") },
    },
    {
      name: "a variable is misspelled",
      kind: "prompt",
      agent: { prompt_content: PROMPT.replace(`Guarantee: ${COMPANY}`, "Guarantee: {{compny}}") },
    },
    {
      name: "a tool is removed",
      kind: "tool",
      agent: { custom_tools: agent.custom_tools.filter(({ tool_id }) => tool_id !== toolIds.bookRepair) },
    },
    {
      name: "a tool requires one more parameter",
      kind: "tool",
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
      kind: "tool",
      tool: { id: toolIds.lookUpOrder, fields: { result: { keep: ["/status"] } } },
    },
    {
      name: "a handoff goes to another agent",
      kind: "handoff",
      agent: { handoffs: agent.handoffs.map((handoff) => ({ ...handoff, agent_id: salesId })) },
    },
    { name: "the model is a worse one", kind: "model", agent: { llm: { ...agent.llm, model_name: WORSE_MODEL } } },
    {
      name: "a word of the analysis is gone",
      kind: "analysis",
      agent: { call_analysis_schema: analysisSchema(TOPICS.filter((topic) => topic !== "repair")) },
    },
    {
      name: "the greeting names another shop",
      kind: "voice",
      agent: { first_message_prompt: GREETING.replace(COMPANY, "Hillside Books") },
    },
    {
      name: "calls are recognized in another language",
      kind: "voice",
      isHeard: true,
      agent: { stt: { ...agent.stt, language: "es-ES" } },
    },
  ];
}
