import { AGENT_EXAMPLES } from "./agents.ts";
import { CATALOGUE_EXAMPLES } from "./catalogue.ts";
import { CHAT_EXAMPLES, CONVERSATION_EXAMPLES } from "./conversations.ts";
import type { OperationExamples } from "./example.ts";
import { MANAGEMENT_EXAMPLES } from "./management.ts";
import { PROMPT_EXAMPLES } from "./prompts.ts";

/** Of every operation. */
export const EXAMPLES: OperationExamples = {
  ...AGENT_EXAMPLES,
  ...PROMPT_EXAMPLES,
  ...CHAT_EXAMPLES,
  ...CONVERSATION_EXAMPLES,
  ...CATALOGUE_EXAMPLES,
  ...MANAGEMENT_EXAMPLES,
};
