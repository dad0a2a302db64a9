import type { ConversationFilter } from "../lists/conversation-filter.ts";

/** The facts that filters select by, besides the time. They no longer change once a conversation has ended. */
export interface Facts {
  agentId: string;
  /** Null of a conversation that tries a draft. */
  agentVersion: number | null;
  type: string;
  callingType: string | null;
  isTestCall: boolean;
  /** Null of a conversation that was numbered before it ended. */
  status: string | null;
}

/** Index terms for a conversation's facts. */
export function factsOf({ agentId, agentVersion, type, callingType, isTestCall, status }: Facts): string[] {
  const facts = [`agent_id=${agentId}`, `type=${type}`, testFact(isTestCall)];
  if (agentVersion !== null) facts.push(versionFact(agentId, agentVersion));
  if (callingType !== null) facts.push(`calling_type=${callingType}`);
  return status === null ? facts : [...facts, statusFact(status)];
}

function versionFact(agentId: string, agentVersion: number): string {
  return `agent_version=${agentId} ${agentVersion}`;
}

function testFact(isTest: boolean): string {
  return `is_test=${isTest}`;
}

export function statusFact(status: string): string {
  return `status=${status}`;
}

/** The terms that a conversation must have to match the filter. */
export function factsWanted({
  agentId,
  agentVersion,
  type,
  callingType,
  isTest,
  status,
}: ConversationFilter): string[] {
  const wanted = [];
  if (agentVersion !== null) wanted.push(versionFact(agentId, agentVersion));
  else if (agentId !== "") wanted.push(`agent_id=${agentId}`);
  if (type !== null) wanted.push(`type=${type}`);
  if (callingType !== null) wanted.push(`calling_type=${callingType}`);
  if (isTest !== null) wanted.push(testFact(isTest));
  if (status !== null) wanted.push(statusFact(status));
  return wanted;
}
