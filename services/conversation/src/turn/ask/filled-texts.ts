import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { compileTexts } from "@parley/shared/domain/variables/template";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { ServiceError } from "@parley/shared/errors";

type Values = Readonly<Record<string, VariableValue>>;

/** Twice the limit of an unfilled prompt. Without a limit, a long value in many places would take gigabytes. */
const PROMPT_MAX = 1_000_000;
const GREETING_MAX = 100_000;

/** The agent's prompt with its variables filled. @throws ServiceError condition above 1,000,000 characters */
export function filledPrompt(agent: AgentRuntime, values: Values): string {
  return fill("prompt", textsOf(agent), 0, values, PROMPT_MAX);
}

/** The agent's greeting with its variables filled. @throws ServiceError condition above 100,000 characters */
export function filledGreeting(agent: AgentRuntime, values: Values): string {
  return fill("first_message_prompt", textsOf(agent), 1, values, GREETING_MAX);
}

/** A greeting in place of the agent's own. @throws ServiceError condition above 100,000 characters */
export function filledFirstMessage(agent: AgentRuntime, text: string, values: Values): string {
  return filledGreeting({ ...agent, firstMessagePrompt: text }, values);
}

/** The agent's analysis prompt with its variables filled. @throws ServiceError condition above 1,000,000 characters */
export function filledAnalysisPrompt(agent: AgentRuntime, values: Values): string {
  const texts = [...textsOf(agent), agent.analysisPrompt?.promptContent ?? ""];
  return fill("call_analysis_prompt", texts, 2, values, PROMPT_MAX);
}

/** A text of its own with variables filled. @param name what it is called in the error @throws ServiceError condition */
export function filledText(name: string, text: string, values: Values): string {
  return fill(name, [text], 0, values, GREETING_MAX);
}

function textsOf({ prompt, firstMessagePrompt }: AgentRuntime): string[] {
  return [prompt?.promptContent ?? "", firstMessagePrompt ?? ""];
}

function fill(name: string, texts: readonly string[], index: number, values: Values, lengthMax: number): string {
  const filled = compileTexts(texts).fill(index, values, lengthMax);
  if (filled !== null) return filled;
  throw new ServiceError(
    "condition",
    `The agent's ${name} is longer than ${lengthMax} characters once its dynamic variables are filled in: shorten their values`,
  );
}
