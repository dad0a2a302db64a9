import type { Schema } from "../../../api/client.ts";

type Version = Schema["AgentVersion"];

/** The prompts of a version, by the names of their fields. */
export const PROMPTS = ["prompt", "analysis_prompt"] as const;
export type Prompt = (typeof PROMPTS)[number];

/** The prompt that a field is of; null for none. @param field such as `prompt_pinned` or `call_analysis_prompt.prompt_version` */
export function promptOf(field: string): Prompt | null {
  if (/^(call_)?analysis_prompt(\.|$)/.test(field)) return "analysis_prompt";
  return /^prompt(_pinned)?(\.|$)/.test(field) ? "prompt" : null;
}

export function textOf(version: Version, prompt: Prompt): string {
  return contentOf(version, prompt)?.prompt_content ?? "";
}

/** Which prompt a version has, and whether it follows a label or the latest, such as `“reception”, version 2, by its label production`. */
export function promptInWords(version: Version, prompt: Prompt): string {
  const content = contentOf(version, prompt);
  if (!content) return "Nothing";
  const { agent } = version;
  if (content.prompt_name.startsWith(`agent-${agent.id}`)) return "A text of its own";
  const reference = prompt === "prompt" ? agent.prompt : agent.call_analysis_prompt;
  const isPinned = prompt === "prompt" ? agent.prompt_pinned : agent.call_analysis_prompt?.prompt_version != null;
  const follows = isPinned ? "" : reference?.prompt_label ? `, by its label ${reference.prompt_label}` : ", the latest";
  return `“${content.prompt_name}”, version ${content.prompt_version}${follows}`;
}

function contentOf({ agent, analysis_prompt }: Version, prompt: Prompt) {
  return prompt === "prompt" ? agent.prompt : analysis_prompt;
}
