import type { DocumentSet } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type { ENDED_BY } from "@parley/shared/domain/tests";

/** A conversation that has ended, as assertions see it. */
export interface FinishedConversation {
  /** What the agent said before the first turn. */
  greeting: string;
  /** A user's message and what the agent made of it, in order. */
  turns: FinishedTurn[];
  endedBy: (typeof ENDED_BY)[number];
  /** As a tool or the start webhook has set it (BCP 47); null: neither has. */
  language: string | null;
  /** Field by field, as far as there is a value. */
  analysis: Readonly<Record<string, unknown>>;
  /** The documents that knowledge bases had for its replies. */
  documentSets: readonly DocumentSet[];
}

export interface FinishedTurn {
  /** What the agent understood. */
  user: string;
  /** What it said, or in a call what was heard of it. */
  agent: string;
  toolCalls: CalledTool[];
  /** The agents that took over in this turn. */
  handedOffTo: string[];
  /** Until the first word, or in a call until it was heard; null: not measured. */
  latencyMs: number | null;
  sources: { documentId: string; name: string }[];
}

export interface CalledTool {
  name: string;
  arguments: unknown;
  result: string;
  isError: boolean;
}
