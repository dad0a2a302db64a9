import { AGENT_VERSION_EXAMPLES } from "./agent-versions.ts";
import { AGENT_EXAMPLES } from "./agents.ts";
import { CALLBACK_EXAMPLES } from "./callbacks.ts";
import { CALL_EXAMPLES } from "./calls.ts";
import { CATALOGUE_EXAMPLES } from "./catalogue.ts";
import { DAILY_EXAMPLES } from "./channels/daily.ts";
import { WHATSAPP_EXAMPLES } from "./channels/whatsapp.ts";
import { WIDGET_EXAMPLES } from "./channels/widget.ts";
import { CHAT_EXAMPLES, CONVERSATION_EXAMPLES } from "./conversations.ts";
import type { OperationExamples } from "./example.ts";
import { KNOWLEDGE_EXAMPLES } from "./knowledge.ts";
import { MANAGEMENT_EXAMPLES } from "./management.ts";
import { PROMPT_EXAMPLES } from "./prompts.ts";
import { TEST_EXAMPLES } from "./tests.ts";
import { TOOL_EXAMPLES } from "./tools.ts";
import { WEB_CALL_EXAMPLES } from "./web-calls.ts";

/** The examples of every operation. */
export const EXAMPLES: OperationExamples = {
  ...AGENT_EXAMPLES,
  ...TEST_EXAMPLES,
  ...AGENT_VERSION_EXAMPLES,
  ...PROMPT_EXAMPLES,
  ...TOOL_EXAMPLES,
  ...KNOWLEDGE_EXAMPLES,
  ...CHAT_EXAMPLES,
  ...CONVERSATION_EXAMPLES,
  ...CALL_EXAMPLES,
  ...WEB_CALL_EXAMPLES,
  ...DAILY_EXAMPLES,
  ...WHATSAPP_EXAMPLES,
  ...WIDGET_EXAMPLES,
  ...CALLBACK_EXAMPLES,
  ...CATALOGUE_EXAMPLES,
  ...MANAGEMENT_EXAMPLES,
};
