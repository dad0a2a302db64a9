import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { compileTexts } from "@parley/shared/variables/template";
import type { VariableValue } from "@parley/shared/variables/values";

type Texts = Pick<AgentRuntime, "prompt" | "firstMessagePrompt">;
type Values = Readonly<Record<string, VariableValue>>;

/** Twice what an agent's prompt may have before it is filled: a long value in many places would be gigabytes. */
const PROMPT_MAX = 1_000_000;
const GREETING_MAX = 100_000;

/** The agent's prompt, its variables filled. @throws ServiceError condition when that is over 1,000,000 characters */
export function filledPrompt(agent: Texts, values: Values): string {
  return fill(agent, 0, values, PROMPT_MAX, "prompt");
}

/** The agent's greeting, its variables filled. @throws ServiceError condition when that is over 100,000 characters */
export function filledGreeting(agent: Texts, values: Values): string {
  return fill(agent, 1, values, GREETING_MAX, "first_message_prompt");
}

function fill({ prompt, firstMessagePrompt }: Texts, index: number, values: Values, lengthMax: number, name: string) {
  const texts = compileTexts([prompt?.promptContent ?? "", firstMessagePrompt ?? ""]);
  const filled = texts.fill(index, values, lengthMax);
  if (filled !== null) return filled;
  throw new ServiceError(
    "condition",
    `The agent's ${name} with its dynamic variables filled is longer than ${lengthMax} characters: shorten their values`,
  );
}
