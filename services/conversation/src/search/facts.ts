import type { ConversationFilter } from "../store/conversation-filter.ts";

/** What filters ask for beside time; of a conversation that ended it changes no more. */
export interface Facts {
  agentId: string;
  type: string;
  callingType: string | null;
  status: string;
}

/** Terms of a conversation that stand for its facts. */
export function factsOf({ agentId, type, callingType, status }: Facts): string[] {
  const facts = [`agent_id=${agentId}`, `type=${type}`, `status=${status}`];
  return callingType === null ? facts : [...facts, `calling_type=${callingType}`];
}

/** Terms that all have to be a conversation's which the filter matches. */
export function factsWanted({ agentId, type, callingType, status }: ConversationFilter): string[] {
  const wanted = [];
  if (agentId !== "") wanted.push(`agent_id=${agentId}`);
  if (type !== null) wanted.push(`type=${type}`);
  if (callingType !== null) wanted.push(`calling_type=${callingType}`);
  if (status !== null) wanted.push(`status=${status}`);
  return wanted;
}
