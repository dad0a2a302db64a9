import type { ConversationFilter } from "../store/conversation-filter.ts";

/** The facts that filters select by, besides the time. They no longer change once a conversation has ended. */
export interface Facts {
  agentId: string;
  type: string;
  callingType: string | null;
  status: string;
}

/** Index terms for a conversation's facts. */
export function factsOf({ agentId, type, callingType, status }: Facts): string[] {
  const facts = [`agent_id=${agentId}`, `type=${type}`, `status=${status}`];
  return callingType === null ? facts : [...facts, `calling_type=${callingType}`];
}

/** The terms that a conversation must have to match the filter. */
export function factsWanted({ agentId, type, callingType, status }: ConversationFilter): string[] {
  const wanted = [];
  if (agentId !== "") wanted.push(`agent_id=${agentId}`);
  if (type !== null) wanted.push(`type=${type}`);
  if (callingType !== null) wanted.push(`calling_type=${callingType}`);
  if (status !== null) wanted.push(`status=${status}`);
  return wanted;
}
