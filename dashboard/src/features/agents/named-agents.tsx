import { useQuery } from "@tanstack/react-query";
import { agentNamesQuery } from "./agents.ts";

const AGENT_ID = /\bagt_[0-9a-z]{26}\b/g;

/** A refusal with the names of the agents that it tells by their IDs. */
export function NamedAgents({ error }: { error: Error }) {
  const names = useQuery(agentNamesQuery).data?.byId;
  return error.message.replace(AGENT_ID, (id) => (names?.has(id) ? `“${names.get(id)}”` : id));
}
