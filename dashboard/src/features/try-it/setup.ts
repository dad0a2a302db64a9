import type { Changes } from "../agents/agents.ts";
import type { Variable } from "../prompts/variables.ts";

export type Kind = "chat" | "talk";

/** The settings with which a conversation is tried. */
export interface Setup {
  agentId: string;
  /** The version that is tried as it is stored; null for the agent as it is on the screen. */
  version: number | null;
  /** The agent's unsaved changes. */
  changes: Changes;
  greeting: string;
  variables: readonly Variable[];
  /** Whether the agent's start webhook is asked. */
  asksStartWebhook: boolean;
  /** Values by the variables' names; "" for the default. */
  values: Readonly<Record<string, string>>;
}

/** The values that were entered. */
export function givenValues({ values }: Setup): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}
