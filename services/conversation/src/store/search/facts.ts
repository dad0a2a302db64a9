import type { ConversationFilter } from "../lists/conversation-filter.ts";

/** The facts that filters select by, besides the time. They no longer change once a conversation has ended. */
export interface Facts {
  agentId: string;
  type: string;
  callingType: string | null;
  /** Null of a conversation that was numbered before it ended. */
  status: string | null;
}

/** Index terms for a conversation's facts. */
export function factsOf({ agentId, type, callingType, status }: Facts): string[] {
  const facts = [`agent_id=${agentId}`, `type=${type}`];
  if (callingType !== null) facts.push(`calling_type=${callingType}`);
  return status === null ? facts : [...facts, statusFact(status)];
}

export function statusFact(status: string): string {
  return `status=${status}`;
}

/** The terms that a conversation must have to match the filter. */
export function factsWanted({ agentId, type, callingType, status }: ConversationFilter): string[] {
  const wanted = [];
  if (agentId !== "") wanted.push(`agent_id=${agentId}`);
  if (type !== null) wanted.push(`type=${type}`);
  if (callingType !== null) wanted.push(`calling_type=${callingType}`);
  if (status !== null) wanted.push(statusFact(status));
  return wanted;
}
